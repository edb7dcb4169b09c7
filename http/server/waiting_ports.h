#pragma once
// Opens the ports of the server, including the TLS port, before the store is open. On each port, a
// waiting room (waiting_room.h) serves clients until the store is open.

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

  /// Listens on the ports and starts the waiting rooms. Returns the errors of Server::Start.
  /// `connections_max` is the connection limit that the server will have; it must be at least 1.
  /// All waiting rooms together keep to this limit, with one exception: each waiting room can
  /// always read 16 connections.
  Status Open(const Options& options, uint64_t connections_max);
  /// Returns the open sockets. The sockets are valid until Close.
  [[nodiscard]] const OpenedPorts& ports() const { return ports_; }
  /// Stops the waiting rooms, and returns their sockets and connections for the server. Call this
  /// function only once.
  [[nodiscard]] OpenedPorts Close();

 private:
  TlsContext tls_;
  OpenedPorts ports_;
  std::optional<WaitingRoom> plain_room_, tls_room_;
};

}  // namespace hg::http
