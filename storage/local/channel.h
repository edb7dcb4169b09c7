#pragma once
// One connection of a socket below a folder: frames of bytes, each behind its length. Addresses go
// by way of the folder's descriptor, so that its path may be longer than an address holds.

#include <cstdint>
#include <string>
#include <utility>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::local {

/// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

/// One thread at a time, but for Shut.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// Waits until the other end has taken the most of it. `frame` is less than 4 GiB. Unavailable:
  /// the other end is gone.
  Status Send(ByteView frame);
  /// Unavailable: the other end is gone. Corruption: more bytes than so many are announced.
  Result<Bytes> Receive(uint32_t bytes_max);
  /// Ends both directions: a call that waits returns. Any thread.
  void Shut() const;
  [[nodiscard]] int fd() const { return socket_.fd(); }

 private:
  /// Exactly so many bytes.
  Status ReceiveInto(Bytes* out, size_t size);

  Descriptor socket_;
};

/// Listens at kSocketName in the folder, for this user alone. A socket file that is there is
/// replaced: whoever calls has the folder's lock.
Result<Descriptor> Listen(const std::string& folder);
/// NotFound: there is no socket, or nobody listens.
Result<Channel> Connect(const std::string& folder);

}  // namespace hg::local
