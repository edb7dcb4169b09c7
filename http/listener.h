#pragma once
// Listening on the address that the settings name. Internal to the servers; includes Asio.

#include <boost/asio/ip/tcp.hpp>

#include "http/options.h"
#include "storage/base/status.h"

namespace hg::http {

/// Makes *acceptor listen; the port, which the system chose for 0. InvalidArgument, IoError name
/// the address.
Result<uint16_t> Listen(const Options& options, uint16_t port,
                        boost::asio::ip::tcp::acceptor* acceptor);

}  // namespace hg::http
