#pragma once
// Opens listening sockets from the configuration. Internal to the servers; includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "http/request/options.h"
#include "storage/base/status.h"

namespace hg::http {

/// Makes *acceptor listen on `bind`, an address or a host name, with the socket options of
/// `options`. Returns the port; for port 0, the one that the system chose. InvalidArgument and
/// IoError name the address.
Result<uint16_t> Listen(const Options& options, const std::string& bind, uint16_t port,
                        boost::asio::ip::tcp::acceptor* acceptor);

}  // namespace hg::http
