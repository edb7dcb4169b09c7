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

/// Call Start and Stop from one thread.
class Server {
 public:
  /// Both arguments must outlive the object.
  Server(const Options& options, Services& services);
  /// Calls Stop.
  ~Server();

  /// Starts listening, and returns without waiting for clients. IoError names an address that
  /// cannot be listened on; InvalidArgument names a TLS file that cannot be read. `ports`: sockets
  /// that are already open (waiting_ports.h) and their connections; the server takes ownership.
  /// Missing sockets are opened.
  Status Start(OpenedPorts ports = {});

  /// The listening port: Options::port, or the port that the system chose for 0.
  [[nodiscard]] uint16_t port() const;
  /// The TLS port; may be equal to port(). 0 = none.
  [[nodiscard]] uint16_t tls_port() const;
  /// Reads certificate, key and CA certificates again, for new connections. On failure nothing
  /// changes. Any thread.
  Status ReloadTls();

  /// Returns true if clients on other machines can connect without a certificate: a listener has a
  /// non-loopback address and does not require client certificates.
  [[nodiscard]] bool reached_by_strangers() const;

  /// Stops listening and closes all connections. Requests that still run after kRequestGraceMs are
  /// ended with an error. Clients that have not taken their responses after kStopGraceMs are
  /// disconnected. After Stop has returned, no handler runs. Idempotent.
  void Stop();

  static constexpr int kRequestGraceMs = 500;
  static constexpr int kStopGraceMs = 3000;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
