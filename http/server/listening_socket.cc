#include "http/server/listening_socket.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "http/server/listener.h"

namespace hg::http {

Result<ListeningSocket> ListeningSocket::Open(const Options& options) {
  return Open(options, options.bind, options.port);
}

Result<ListeningSocket> ListeningSocket::OpenTls(const Options& options) {
  const TlsOptions& tls = options.tls;
  return Open(options, tls.bind.empty() ? options.bind : tls.bind, tls.port.value_or(options.port));
}

Result<ListeningSocket> ListeningSocket::Open(const Options& options, const std::string& bind,
                                              uint16_t wanted) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor(io);
  ASSIGN_OR_RETURN(const uint16_t port, Listen(options, bind, wanted, &acceptor));
  boost::system::error_code error;
  const bool v6 = acceptor.local_endpoint(error).address().is_v6();
  const int fd = error ? -1 : acceptor.release(error);
  if (error)
    return Status::IoError("the socket of port " + std::to_string(port) + ": " + error.message());
  return ListeningSocket(fd, port, v6);
}

ListeningSocket::~ListeningSocket() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace hg::http
