#pragma once
// The servers for Graphite's two ports (docs/ingestion.md): the plaintext port, and the port for
// pickled points in frames with a length prefix. Graphite's protocols have no replies, so the
// server counts rejected points and logs them at intervals.

#include <cstdint>
#include <memory>

#include "http/request/options.h"
#include "http/request/services.h"
#include "storage/base/status.h"

namespace hg::http {

/// Serves both Graphite ports on one thread of its own. While the store is busy, this thread waits
/// and reads no socket. Start and Stop must be called on the same thread.
class GraphiteServer {
 public:
  /// Both arguments must outlive the server.
  GraphiteServer(const Options& options, Services& services);
  /// The destructor calls Stop.
  ~GraphiteServer();

  /// Listens on each Graphite port that is set in the options. The message of IoError contains the
  /// address on which the server cannot listen.
  Status Start();

  /// `port` returns the port for plaintext lines. `pickle_port` returns the port for pickled
  /// points. The result is 0 if the server does not listen on the port.
  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] uint16_t pickle_port() const;

  /// Stops reading, stores the points of complete lines and frames that were read, and closes all
  /// connections. Points that are not stored within Server::kRequestGraceMs are dropped. Further
  /// calls of Stop have no effect.
  void Stop();

  /// The maximum size of a line without its end, and of a frame, in bytes. The server disconnects a
  /// client that sends a longer line or frame.
  static constexpr size_t kLineBytesMax = 16384;
  static constexpr size_t kFrameBytesMax = 1048576;
  static constexpr size_t kConnectionsMax = 1024;
  /// The time in seconds after which a connection counts as silent. If there are already
  /// kConnectionsMax connections, the server closes a silent connection to accept a new one.
  static constexpr int64_t kSilentS = 10;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
