#pragma once
// Graphite's ports (docs/languages.md): plaintext lines, and pickled points in frames. Nothing is
// ever answered there: what is refused is counted, and told to the log now and then.

#include <cstdint>
#include <memory>

#include "http/options.h"
#include "http/services.h"
#include "storage/base/status.h"

namespace hg::http {

/// One thread of its own, which waits where the store is busy: then nobody's socket is read. Start,
/// then Stop, from one thread.
class GraphiteServer {
 public:
  /// Both outlive the object.
  GraphiteServer(const Options& options, Services& services);
  /// Stops.
  ~GraphiteServer();

  /// Listens where the options name a port; IoError names the address if it cannot.
  Status Start();

  /// The ports that are listened on, 0 = none.
  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] uint16_t pickle_port() const;

  /// Closes all connections; what was read whole before is stored. Idempotent.
  void Stop();

  /// Of one line without its end, and of one frame; whoever sends more is cut off.
  static constexpr size_t kLineBytesMax = 16384;
  static constexpr size_t kFrameBytesMax = 1048576;
  static constexpr size_t kConnectionsMax = 1024;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
