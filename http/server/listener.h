#pragma once
// Opens listening sockets. Only the servers in this folder use this file, which includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <string>

#include "http/request/options.h"
#include "storage/base/status.h"

namespace hg::http {

/// The pause before the next attempt if a connection could not be accepted.
inline constexpr auto kAcceptPause = std::chrono::milliseconds(100);

/// Makes *acceptor listen on the address or host name `bind`, with the socket options of `options`.
/// Returns the port. If `port` is 0, the system selects the port. The messages of InvalidArgument
/// and IoError contain the address.
Result<uint16_t> Listen(const Options& options, const std::string& bind, uint16_t port,
                        boost::asio::ip::tcp::acceptor* acceptor);

}  // namespace hg::http
