#pragma once
// Opens the ports of the server, including the TLS port, while the store opens. Each port gets a
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
  /// `options` must stay valid until Open has returned.
  explicit WaitingPorts(const Options& options) : tls_(options.tls) {}
  WaitingPorts(const WaitingPorts&) = delete;
  WaitingPorts& operator=(const WaitingPorts&) = delete;

  /// Listens and starts the waiting rooms. Errors are as in Server::Start. `connections_max` is the
  /// connection limit of the later server, at least 1. The waiting rooms together do not exceed
  /// this limit, except that each waiting room can always read 16 connections.
  Status Open(const Options& options, uint64_t connections_max);
  /// Returns the open sockets. They are valid until Close.
  [[nodiscard]] const OpenedPorts& ports() const { return ports_; }
  /// Stops the waiting rooms. Returns their sockets and connections for the server. Call it once.
  [[nodiscard]] OpenedPorts Close();

 private:
  TlsContext tls_;
  OpenedPorts ports_;
  std::optional<WaitingRoom> plain_room_, tls_room_;
};

}  // namespace hg::http
