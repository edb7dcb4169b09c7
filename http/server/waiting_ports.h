#pragma once
// Opens the ports of the server, the TLS port included, while the store opens. Each port gets a
// waiting room (waiting_room.h).

#include <cstdint>
#include <optional>

#include "http/request/options.h"
#include "http/server/listening_socket.h"
#include "http/server/waiting_room.h"
#include "http/tls/tls_context.h"
#include "storage/base/status.h"

namespace hg::http {

class WaitingPorts {
 public:
  /// `options` must outlive Open.
  explicit WaitingPorts(const Options& options) : tls_(options.tls) {}
  WaitingPorts(const WaitingPorts&) = delete;
  WaitingPorts& operator=(const WaitingPorts&) = delete;

  /// Listens and starts the waiting rooms. Errors are as in Server::Start. `connections_max` is the
  /// connection limit of the server that follows, at least 1. The waiting rooms together stay
  /// within this limit. As an exception, each waiting room can always read 16 connections.
  Status Open(const Options& options, uint64_t connections_max);
  /// The open sockets. Valid until Close.
  [[nodiscard]] const OpenedPorts& ports() const { return ports_; }
  /// Stops the waiting rooms and returns their sockets and connections for the server. Call once.
  [[nodiscard]] OpenedPorts Close();

 private:
  TlsContext tls_;
  OpenedPorts ports_;
  std::optional<WaitingRoom> plain_room_, tls_room_;
};

}  // namespace hg::http
