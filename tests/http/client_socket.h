#pragma once
// A blocking socket without TLS that connects to a server under test.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hg::http {

/// A client of a server under test. Only one thread at a time may use the object. If the server
/// sends nothing for kPatienceS seconds while a call waits, the call fails the test case.
class ClientSocket {
 public:
  /// `receive_bytes` is the approximate size of the receive buffer of the socket; 0 = the default
  /// size of the system.
  explicit ClientSocket(uint16_t port, int receive_bytes = 0);
  virtual ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  void Send(std::string_view bytes);
  /// Closes the sending side of the connection. The socket can still receive.
  virtual void HalfClose();
  virtual void Close();

  /// Reads and returns all bytes until the server closes the connection.
  std::string ReadAll();
  /// Returns whether the last read has failed because the server reset the connection.
  [[nodiscard]] bool reset() const { return reset_; }
  /// Reads `bytes` bytes and drops them. Returns false if the server closed the connection before
  /// all these bytes had arrived.
  bool Skip(size_t bytes);
  /// Reads and returns exactly `bytes` bytes.
  std::string Read(size_t bytes);
  /// An HTTP response, whose body has a Content-Length or is chunked. `head` includes the blank
  /// line after the head.
  struct Response {
    std::string head, body;
    [[nodiscard]] int status() const { return std::stoi(head.substr(9, 3)); }
  };
  Response ReadResponse();

 protected:
  /// SendSome sends a part of `bytes` and returns its size. ReceiveSome receives at most `size`
  /// bytes and returns their number. If the result is 0 or less, the server has closed the
  /// connection.
  virtual ssize_t SendSome(std::string_view bytes);
  virtual ssize_t ReceiveSome(char* room, size_t size);
  [[nodiscard]] int fd() const { return fd_; }

 private:
  static constexpr int kPatienceS = 300;

  bool ReadMore();
  std::string TakeLine();

  int fd_ = -1;
  bool reset_ = false;
  std::string received_;
};

}  // namespace hg::http
