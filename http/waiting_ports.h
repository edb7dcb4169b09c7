#pragma once
// The ports while the store is opened, the one of TLS as well, each with its waiting room.

#include <cstdint>
#include <optional>

#include "http/listening_socket.h"
#include "http/options.h"
#include "http/tls/tls_context.h"
#include "http/waiting_room.h"
#include "storage/base/status.h"

namespace hg::http {

class WaitingPorts {
 public:
  /// `options` outlive Open.
  explicit WaitingPorts(const Options& options) : tls_(options.tls) {}
  WaitingPorts(const WaitingPorts&) = delete;
  WaitingPorts& operator=(const WaitingPorts&) = delete;

  /// Fails as Server::Start does. `connections_max`: of the server that follows, at least 1; the
  /// waiting rooms together hold no more, but for the few that each can always hear.
  Status Open(const Options& options, uint64_t connections_max);
  /// Until Close: where they listen.
  [[nodiscard]] const OpenedPorts& ports() const { return ports_; }
  /// Ends the waiting rooms; what they leave to the server. Once.
  [[nodiscard]] OpenedPorts Close();

 private:
  TlsContext tls_;
  OpenedPorts ports_;
  std::optional<WaitingRoom> plain_room_, tls_room_;
};

}  // namespace hg::http
