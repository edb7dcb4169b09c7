#pragma once
// A plain blocking socket to a server under test.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hg::http {

/// Use on one thread at a time. A call fails its test case if the server is silent for kPatienceS.
class ClientSocket {
 public:
  /// `receive_bytes`: approximate size of the system's receive buffer; 0 = the system's default.
  explicit ClientSocket(uint16_t port, int receive_bytes = 0);
  virtual ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  void Send(std::string_view bytes);
  /// Closes the sending direction. The socket can still receive.
  virtual void HalfClose();
  virtual void Close();

  /// Reads everything until the server closes the connection.
  std::string ReadAll();
  /// Reads that many bytes and drops them. Returns false if the server closed the connection before
  /// they had all arrived.
  bool Skip(size_t bytes);
  /// Reads exactly that many bytes.
  std::string Read(size_t bytes);
  /// An HTTP response with Content-Length or in chunks: its head, including the blank line after
  /// it, and its body.
  struct Response {
    std::string head, body;
    [[nodiscard]] int status() const { return std::stoi(head.substr(9, 3)); }
  };
  Response ReadResponse();

 protected:
  /// These functions return the number of bytes sent or received. 0 or less: the server has closed
  /// the connection.
  virtual ssize_t SendSome(std::string_view bytes);
  virtual ssize_t ReceiveSome(char* room, size_t size);
  [[nodiscard]] int fd() const { return fd_; }

 private:
  static constexpr int kPatienceS = 300;

  bool ReadMore();
  std::string TakeLine();

  int fd_ = -1;
  std::string received_;
};

}  // namespace hg::http
