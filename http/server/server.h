#pragma once
// The network server: one port for HTTP and telnet (opentsdb-http-api.md §1), event loops and pool
// threads.

#include <cstdint>
#include <memory>

#include "http/request/options.h"
#include "http/request/services.h"
#include "http/server/listening_socket.h"
#include "storage/base/status.h"

namespace hg::http {

/// Call Start and Stop on one thread.
class Server {
 public:
  /// Both arguments must outlive the object.
  Server(const Options& options, Services& services);
  /// Calls Stop.
  ~Server();

  /// Starts listening, and returns without waiting for clients. The message of IoError names an
  /// address on which it cannot listen, and that of InvalidArgument names an unreadable TLS file.
  /// `ports` has sockets that are already open (waiting_ports.h) and their connections; the server
  /// takes ownership. Start opens the missing sockets.
  Status Start(OpenedPorts ports = {});

  /// Returns the listening port: Options::port, or for 0 the port that the system selected.
  [[nodiscard]] uint16_t port() const;
  /// Returns the TLS port, which may be equal to port(). 0 = none.
  [[nodiscard]] uint16_t tls_port() const;
  /// Reads certificate, key and CA certificates again, for new connections. If this fails, nothing
  /// changes. Any thread may call it.
  Status ReloadTls();

  /// Returns whether clients on other machines can connect without a certificate: a listener has a
  /// non-loopback address and does not require client certificates.
  [[nodiscard]] bool reached_by_strangers() const;

  /// Stops listening and closes all connections. Requests that still run after kRequestGraceMs end
  /// with an error. Clients that have not taken their responses after kStopGraceMs are
  /// disconnected. After Stop has returned, no handler is running. Idempotent.
  void Stop();

  static constexpr int kRequestGraceMs = 500;
  static constexpr int kStopGraceMs = 3000;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
