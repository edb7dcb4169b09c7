#pragma once
// A connection over a socket in a folder. The connection transfers frames of bytes. Each frame is
// preceded by its length. Socket addresses use the file descriptor of the folder, so the path of
// the folder may be longer than a socket address allows.

#include <cstdint>
#include <string>
#include <utility>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::local {

/// Owns a file descriptor, which the destructor closes.
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

/// One connection. Not thread-safe, except Shut.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// Sends a frame of less than 4 GiB. Blocks until the peer has received most of the frame.
  /// Returns Unavailable if the peer has closed the connection.
  Status Send(ByteView frame);
  /// Receives a frame. Returns Unavailable if the peer has closed the connection. Returns
  /// Corruption if the frame is longer than `bytes_max`.
  Result<Bytes> Receive(uint32_t bytes_max);
  /// Ends both directions of the connection, so that blocked calls return. Any thread may call
  /// Shut.
  void Shut() const;
  [[nodiscard]] int fd() const { return socket_.fd(); }

 private:
  /// Receives exactly `size` bytes.
  Status ReceiveInto(Bytes* out, size_t size);

  Descriptor socket_;
};

/// Listens at kSocketName in the folder. Only the current user and root can connect. An existing
/// socket file is replaced. No other process listens on the existing file, because the caller must
/// hold the lock of the folder.
Result<Descriptor> Listen(const std::string& folder);
/// Connects to the socket in the folder. Returns NotFound if there is no socket, or if no process
/// listens on the socket. Returns Unavailable if the current user may not connect.
Result<Channel> Connect(const std::string& folder);

}  // namespace hg::local
