#pragma once
// Listening on the address that the settings name. Internal to the servers; includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "http/options.h"
#include "storage/base/status.h"

namespace hg::http {

/// Makes *acceptor listen on `bind`, an address or the name of a host; the port, which the system
/// chose for 0. InvalidArgument, IoError name the address. The rest as of `options`.
Result<uint16_t> Listen(const Options& options, const std::string& bind, uint16_t port,
                        boost::asio::ip::tcp::acceptor* acceptor);

}  // namespace hg::http
