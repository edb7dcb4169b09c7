#include "http/server/listener.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>

namespace hg::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Resolves an address, or the first address of a host name, IPv4 before IPv6, as in Java.
Result<asio::ip::address> AddressOf(const std::string& bind) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(bind, error);
  if (!error) return address;
  asio::io_context io;
  const auto found = tcp::resolver(io).resolve(bind, "", error);
  if (error || found.empty()) {
    return Status::InvalidArgument("cannot listen on \"" + bind +
                                   "\": not an address or a host name");
  }
  const auto v4 = std::find_if(found.begin(), found.end(), [](const auto& entry) {
    return entry.endpoint().address().is_v4();
  });
  return (v4 != found.end() ? *v4 : *found.begin()).endpoint().address();
}

}  // namespace

Result<uint16_t> Listen(const Options& options, const std::string& bind, uint16_t port,
                        tcp::acceptor* acceptor) {
  boost::system::error_code error;
  ASSIGN_OR_RETURN(const asio::ip::address address, AddressOf(bind));
  const tcp::endpoint endpoint(address, port);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(tcp::acceptor::reuse_address(options.reuse_address), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(options.backlog, error);
  if (error) {
    return Status::IoError("cannot listen on " + bind + ":" + std::to_string(port) + ": " +
                           error.message());
  }
  return acceptor->local_endpoint(error).port();
}

}  // namespace hg::http
