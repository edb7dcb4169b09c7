#include "http/server/stream.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace hg::http {
namespace {

Transfer Verdict(ssize_t result, size_t* moved) {
  *moved = result > 0 ? static_cast<size_t>(result) : 0;
  if (result > 0) return Transfer::kSome;
  if (result == 0) return Transfer::kEnd;
  return errno == EAGAIN ? Transfer::kLater : Transfer::kFailed;
}

ssize_t ReceiveFrom(int socket, char* room, size_t size, int flags) {
  ssize_t n = 0;
  do {
    n = ::recv(socket, room, size, flags | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  return n;
}

}  // namespace

void Stream::Prepare(bool no_delay, bool keep_alive) {
  boost::system::error_code ignored;
  socket_.set_option(boost::asio::ip::tcp::no_delay(no_delay), ignored);
  socket_.set_option(boost::asio::socket_base::keep_alive(keep_alive), ignored);
  socket_.non_blocking(true, ignored);
}

Transfer Stream::Receive(char* room, size_t size, size_t* received) {
  if (tls_ != nullptr) return tls_->Receive(room, size, received);
  return Verdict(ReceiveFrom(socket_.native_handle(), room, size, 0), received);
}

Transfer Stream::Look() {
  if (tls_ != nullptr) return tls_->Look();
  char byte;
  size_t seen = 0;
  return Verdict(ReceiveFrom(socket_.native_handle(), &byte, 1, MSG_PEEK), &seen);
}

bool Stream::ClientClosed() {
  pollfd polled{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&polled, 1, 0) > 0;  // poll reports errors, too, without a request for them
}

Transfer Stream::Send(std::string_view bytes, size_t* sent) {
  if (tls_ != nullptr) return tls_->Send(bytes, sent);
  ssize_t n = 0;
  do {
    n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  return Verdict(n, sent);
}

void Stream::EndSending() {
  if (tls_ != nullptr) tls_->Farewell();
  boost::system::error_code ignored;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
}

void Stream::Close() {
  if (tls_ != nullptr) tls_->Farewell();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Stream::Reset() {
  boost::system::error_code ignored;
  socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

std::string Stream::Remote() const {
  boost::system::error_code error;
  const auto remote = socket_.remote_endpoint(error);
  if (error) return {};
  return remote.address().to_string() + ":" + std::to_string(remote.port());
}

uint64_t Stream::UntakenBytes() {
  int waiting = 0;  // bytes not sent or not acknowledged
  if (::ioctl(socket_.native_handle(), SIOCOUTQ, &waiting) != 0) return 0;
  return static_cast<uint64_t>(waiting);
}

}  // namespace hg::http
