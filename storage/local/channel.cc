#include "storage/local/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/local/calls.h"

namespace hg::local {
namespace {

constexpr int kBacklog = 64;
constexpr size_t kLengthBytes = 4;

std::string ErrnoText() { return std::strerror(errno); }

/// Returns the address of the socket in an open folder.
sockaddr_un AddressIn(const Descriptor& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path =
      "/proc/self/fd/" + std::to_string(folder.fd()) + "/" + std::string(kSocketName);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Descriptor OpenFolder(const std::string& folder) {
  return Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

Descriptor NewSocket() { return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Status Channel::Send(ByteView frame) {
  Bytes head;
  AppendBig(&head, frame.size(), kLengthBytes);
  for (ByteView part : {ByteView(head), frame}) {
    while (!part.empty()) {
      const ssize_t sent = ::send(socket_.fd(), part.data(), part.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return Status::Unavailable("the connection is gone: " + ErrnoText());
      part.remove_prefix(static_cast<size_t>(sent));
    }
  }
  return {};
}

Status Channel::ReceiveInto(Bytes* out, size_t size) {
  // Memory grows with the received bytes, not with the announced length.
  constexpr size_t kStepBytes = size_t{1} << 20;
  out->clear();
  while (out->size() < size) {
    const size_t begin = out->size();
    out->resize(std::min(size, begin + kStepBytes));
    for (size_t at = begin; at < out->size();) {
      const ssize_t got = ::recv(socket_.fd(), out->data() + at, out->size() - at, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Status::Unavailable("the connection is gone: " + ErrnoText());
      if (got == 0) return Status::Unavailable("the other end has closed the connection");
      at += static_cast<size_t>(got);
    }
  }
  return {};
}

Result<Bytes> Channel::Receive(uint32_t bytes_max) {
  Bytes frame;
  RETURN_IF_ERROR(ReceiveInto(&frame, kLengthBytes));
  const uint64_t length = ReadBig(frame.data(), kLengthBytes);
  if (length > bytes_max) {
    return Status::Corruption("the announced frame has " + std::to_string(length) +
                              " bytes; the maximum is " + std::to_string(bytes_max));
  }
  RETURN_IF_ERROR(ReceiveInto(&frame, length));
  return frame;
}

void Channel::Shut() const { ::shutdown(socket_.fd(), SHUT_RDWR); }

Result<Descriptor> Listen(const std::string& folder) {
  const Descriptor open = OpenFolder(folder);
  Descriptor socket = NewSocket();
  const auto failed = [&folder] {
    return Status::IoError(folder + "/" + std::string(kSocketName) + ": " + ErrnoText());
  };
  if (open.fd() < 0 || socket.fd() < 0) return failed();
  if (::unlinkat(open.fd(), std::string(kSocketName).c_str(), 0) != 0 && errno != ENOENT)
    return failed();
  // Sets the mode of the file that bind creates.
  if (::fchmod(socket.fd(), S_IRUSR | S_IWUSR) != 0) return failed();
  const sockaddr_un address = AddressIn(open);
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.fd(), kBacklog) != 0) {
    return failed();
  }
  return socket;
}

Result<Channel> Connect(const std::string& folder) {
  const Descriptor open = OpenFolder(folder);
  Descriptor socket = NewSocket();
  if (open.fd() < 0 || socket.fd() < 0) return Status::NotFound(folder + ": " + ErrnoText());
  const sockaddr_un address = AddressIn(open);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
    const std::string why = folder + "/" + std::string(kSocketName) + ": " + ErrnoText();
    return nobody ? Status::NotFound(why) : Status::Unavailable(why);
  }
  return Channel(std::move(socket));
}

}  // namespace hg::local
