#include "tests/http/client_socket.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>

namespace hg::http {

ClientSocket::ClientSocket(uint16_t port, int receive_bytes) {
  fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(fd_ >= 0);
  const timeval patience{kPatienceS, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (receive_bytes > 0)
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

ClientSocket::~ClientSocket() { ClientSocket::Close(); }

void ClientSocket::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void ClientSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = SendSome(bytes);
    if (n <= 0) return;  // the server has closed: its earlier bytes are read next
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void ClientSocket::HalfClose() { ::shutdown(fd_, SHUT_WR); }

ssize_t ClientSocket::SendSome(std::string_view bytes) {
  return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

ssize_t ClientSocket::ReceiveSome(char* room, size_t size) { return ::recv(fd_, room, size, 0); }

bool ClientSocket::ReadMore() {
  char buffer[65536];
  errno = 0;
  const ssize_t n = ReceiveSome(buffer, sizeof buffer);
  const bool silent = n < 0 && errno == EAGAIN;
  REQUIRE_FALSE(silent);
  reset_ = n < 0 && errno == ECONNRESET;
  if (n <= 0) return false;
  received_.append(buffer, static_cast<size_t>(n));
  return true;
}

std::string ClientSocket::ReadAll() {
  while (ReadMore()) {
  }
  return std::move(received_);
}

bool ClientSocket::Skip(size_t bytes) {
  while (received_.size() < bytes) {
    bytes -= received_.size();
    received_.clear();
    if (!ReadMore()) return false;
  }
  received_.erase(0, bytes);
  return true;
}

std::string ClientSocket::Read(size_t bytes) {
  while (received_.size() < bytes) REQUIRE(ReadMore());
  std::string taken = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return taken;
}

std::string ClientSocket::TakeLine() {
  size_t end;
  while ((end = received_.find("\r\n")) == std::string::npos) REQUIRE(ReadMore());
  return Read(end + 2);
}

ClientSocket::Response ClientSocket::ReadResponse() {
  Response response;
  for (std::string line; line != "\r\n"; response.head += line) line = TakeLine();
  constexpr std::string_view kLength = "Content-Length: ";
  if (const size_t at = response.head.find(kLength); at != std::string::npos) {
    response.body = Read(std::stoul(response.head.substr(at + kLength.size())));
    return response;
  }
  REQUIRE(response.head.find("Transfer-Encoding: chunked") != std::string::npos);
  for (;;) {
    const size_t size = std::stoul(TakeLine(), nullptr, 16);
    response.body += Read(size);
    CHECK(TakeLine() == "\r\n");
    if (size == 0) return response;
  }
}

}  // namespace hg::http
