#pragma once
// The servers of Graphite's two ports (docs/ingestion.md): plaintext lines, and pickled points in
// frames with a length prefix. Graphite's protocols have no replies, so rejected points are counted
// and logged at intervals.

#include <cstdint>
#include <memory>

#include "http/request/options.h"
#include "http/request/services.h"
#include "storage/base/status.h"

namespace hg::http {

/// Has its own thread. While the store is busy, this thread waits and reads no socket. Call Start
/// and Stop on one thread.
class GraphiteServer {
 public:
  /// Both arguments must outlive the object.
  GraphiteServer(const Options& options, Services& services);
  /// Calls Stop.
  ~GraphiteServer();

  /// Listens on each port that the options have. The message of IoError names an address on which
  /// it cannot listen.
  Status Start();

  /// Return the ports in use; 0 = none.
  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] uint16_t pickle_port() const;

  /// Stops reading, stores the points of complete lines and frames that were read, and closes all
  /// connections. Points that are not stored after Server::kRequestGraceMs are dropped. Idempotent.
  void Stop();

  /// Maximum size of a line without its end, and of a frame. The server disconnects a client that
  /// exceeds this size.
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
