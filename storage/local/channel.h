#pragma once
// A connection over a socket in a folder. It transfers frames of bytes, each preceded by its
// length. Addresses use the descriptor of the folder, so that its path may be longer than a socket
// address allows.

#include <cstdint>
#include <string>
#include <utility>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::local {

/// A file descriptor, which the destructor closes.
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

/// Not thread-safe, except Shut.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// Sends a frame of less than 4 GiB. Blocks until the other side has received most of it.
  /// Unavailable: the other side has closed the connection.
  Status Send(ByteView frame);
  /// Receives a frame. Unavailable: the other side has closed the connection. Corruption: the frame
  /// is longer than `bytes_max`.
  Result<Bytes> Receive(uint32_t bytes_max);
  /// Ends both directions of the connection, so that blocked calls return. Any thread may call it.
  void Shut() const;
  [[nodiscard]] int fd() const { return socket_.fd(); }

 private:
  /// Receives exactly `size` bytes.
  Status ReceiveInto(Bytes* out, size_t size);

  Descriptor socket_;
};

/// Listens at kSocketName in the folder, for the current user only. Replaces an existing socket
/// file. No process can use that file, because the caller must hold the lock of the folder.
Result<Descriptor> Listen(const std::string& folder);
/// Connects to the socket in the folder. NotFound: there is no socket, or no process listens on
/// it.
Result<Channel> Connect(const std::string& folder);

}  // namespace hg::local
