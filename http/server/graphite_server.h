#pragma once
// The servers of Graphite's two ports (docs/ingestion.md): plaintext lines, and pickled points in
// frames with a length prefix. Graphite's protocols have no replies, so refused points are counted
// and logged from time to time.

#include <cstdint>
#include <memory>

#include "http/request/options.h"
#include "http/request/services.h"
#include "storage/base/status.h"

namespace hg::http {

/// Runs one thread of its own. While the store is busy that thread waits and reads no socket. Call
/// Start and Stop from one thread.
class GraphiteServer {
 public:
  /// Both arguments must outlive the object.
  GraphiteServer(const Options& options, Services& services);
  /// Calls Stop.
  ~GraphiteServer();

  /// Listens on each port that the options name. IoError names an address that cannot be listened
  /// on.
  Status Start();

  /// The ports in use; 0 = none.
  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] uint16_t pickle_port() const;

  /// Closes all connections. Received points that are not stored yet are dropped. Idempotent.
  void Stop();

  /// Size limits of one line without its end, and of one frame. A client that exceeds them is
  /// disconnected.
  static constexpr size_t kLineBytesMax = 16384;
  static constexpr size_t kFrameBytesMax = 1048576;
  static constexpr size_t kConnectionsMax = 1024;
  /// If there are kConnectionsMax connections, one that has been silent for more than this time is
  /// closed in favour of a new one.
  static constexpr int64_t kSilentS = 10;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
