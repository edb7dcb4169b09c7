#pragma once
// The network server. It has one port for HTTP and telnet (opentsdb-http-api.md §1), event loops
// and pool threads.

#include <cstdint>
#include <memory>

#include "http/request/options.h"
#include "http/request/services.h"
#include "http/server/listening_socket.h"
#include "storage/base/status.h"

namespace hg::http {

/// The network server. Start and Stop must be called on the same thread.
class Server {
 public:
  /// Both arguments must outlive the server.
  Server(const Options& options, Services& services);
  /// The destructor calls Stop.
  ~Server();

  /// Starts to listen, and returns without waiting for clients. `ports` has sockets that are
  /// already open (waiting_ports.h) and the connections on them; the server takes ownership of
  /// both. Start opens the sockets that are missing in `ports`. The message of IoError contains the
  /// address on which the server cannot listen. The message of InvalidArgument contains the name of
  /// the TLS file that cannot be read.
  Status Start(OpenedPorts ports = {});

  /// Returns the port on which the server listens. This is Options::port, or the port that the
  /// system selected if Options::port is 0.
  [[nodiscard]] uint16_t port() const;
  /// Returns the TLS port, which may be the same as port(). 0 = there is no TLS port.
  [[nodiscard]] uint16_t tls_port() const;
  /// Reads the certificate, the key and the CA certificates again; new connections use them. If
  /// reading fails, nothing changes. Any thread may call this function.
  Status ReloadTls();

  /// Returns whether clients on other machines can connect without a certificate. This is so if the
  /// server listens on a non-loopback address without requiring client certificates.
  [[nodiscard]] bool reached_by_strangers() const;

  /// Stops listening and closes all connections. Requests that still run after kRequestGraceMs end
  /// with an error. Clients that have not received their responses after kStopGraceMs are
  /// disconnected. After Stop has returned, no handler is running. Further calls of Stop have no
  /// effect.
  void Stop();

  static constexpr int kRequestGraceMs = 500;
  static constexpr int kStopGraceMs = 3000;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
