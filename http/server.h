#pragma once
// The network edge: one port, HTTP and telnet (spec http-api.md §1), event loops and the threads
// behind them.

#include <cstdint>
#include <memory>

#include "http/listening_socket.h"
#include "http/options.h"
#include "http/services.h"
#include "storage/base/status.h"

namespace hg::http {

/// Start, then Stop, from one thread.
class Server {
 public:
  /// Both outlive the object.
  Server(const Options& options, Services& services);
  /// Stops.
  ~Server();

  /// Listens and returns; IoError names the address if it cannot, InvalidArgument a file of TLS.
  /// `ports`: sockets that somebody has had before (waiting_ports.h), and connections that he
  /// leaves; this object's from now on. Those that are missing are opened.
  Status Start(OpenedPorts ports = {});

  /// The port that is listened on: Options::port, or the one the system chose for 0.
  [[nodiscard]] uint16_t port() const;
  /// The one that speaks TLS, which may be the same; 0 = none.
  [[nodiscard]] uint16_t tls_port() const;
  /// Reads certificate, key and authorities anew, for connections that begin from now on. On
  /// failure everything stays as it was. Any thread.
  Status ReloadTls();

  /// Whether other machines may come without a certificate: not to a loopback address, nor to TLS
  /// that requires one.
  [[nodiscard]] bool reached_by_strangers() const;

  /// Listens no more, lets running requests finish (up to kStopGraceMs, then their clients are cut
  /// off), closes all connections. When it returns no handler runs any more. Idempotent.
  void Stop();

  static constexpr int kStopGraceMs = 3000;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
