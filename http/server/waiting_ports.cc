#include "http/server/waiting_ports.h"

namespace hg::http {

Status WaitingPorts::Open(const Options& options, uint64_t connections_max) {
  if (SpeaksTls(options)) RETURN_IF_ERROR(tls_.Load());
  if (SpeaksPlain(options)) {
    ASSIGN_OR_RETURN(ports_.plain, ListeningSocket::Open(options));
    // The waiting room for TLS closes telnet connections instead of keeping them. So it only needs
    // connections for the HTTP clients that it reads at the same time. The waiting room for plain
    // connections may use the rest of `connections_max`.
    const uint64_t others = SpeaksTls(options) ? WaitingRoom::NotForLines(connections_max) : 0;
    plain_room_.emplace(*ports_.plain, connections_max - others);
  }
  if (SpeaksTls(options)) {
    ASSIGN_OR_RETURN(ports_.tls, ListeningSocket::OpenTls(options));
    tls_room_.emplace(*ports_.tls, connections_max, &tls_);
  }
  return {};
}

OpenedPorts WaitingPorts::Close() {
  if (plain_room_) ports_.connections = plain_room_->Stop();
  if (tls_room_) (void)tls_room_->Stop();  // it returns no connections
  return std::move(ports_);
}

}  // namespace hg::http
