#pragma once
// A Thrift transport over the socket of one connection. The transport limits the size, time and
// memory of a request while it reads the request. If the transport fails, it throws a Thrift
// exception, and the connection must be closed.

#include <thrift/protocol/TProtocol.h>
#include <thrift/transport/TVirtualTransport.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/thrift2/call_context.h"

namespace hg::thrift2 {

/// The transport of one connection. Not thread-safe. Another thread may shut down the socket, which
/// ends all waiting.
class Wire : public apache::thrift::transport::TVirtualTransport<Wire> {
 public:
  /// The caller owns `socket`. `socket` and `memory` must outlive the object.
  Wire(int socket, int32_t message_bytes_max, std::chrono::milliseconds idle, MemoryShare& memory);
  ~Wire() override;

  /// Waits for the next request. Returns false if no request arrives within the idle time, or if
  /// the client has disconnected.
  bool WaitForMessage();
  /// Releases the memory that is charged for the request. Call this function after the response was
  /// sent.
  void EndMessage();
  /// Charges the memory of `count` decoded elements before Thrift allocates it.
  void ChargeElements(uint64_t count);
  /// Charges memory in bytes that the transport of the response holds until the response was sent.
  void ChargeResponse(size_t bytes);
  /// Returns the first `n` bytes of the connection. These bytes can still be read afterwards.
  /// Returns fewer than `n` bytes if the client has disconnected, or if the bytes do not arrive
  /// within the idle time.
  std::vector<uint8_t> PeekBytes(size_t n);
  [[nodiscard]] int socket() const { return socket_; }

  /// Returns for how long the connection has completed no request. Returns 0 while the connection
  /// is not waiting for a request or for the rest of a request. Any thread may call this function.
  [[nodiscard]] std::chrono::milliseconds Silence() const;

  // The following functions implement Thrift's TTransport.
  [[nodiscard]] bool isOpen() const override { return true; }
  uint32_t read(uint8_t* buffer, uint32_t length);
  void write(const uint8_t* buffer, uint32_t length);
  void flush() override;

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// Receives more bytes. Returns false if the client has disconnected, or if no bytes arrive
  /// before the time `until`.
  bool Fill(Time until);
  bool FillBy(Time until);
  void Charge(int64_t bytes);
  void Send(const uint8_t* data, size_t size);
  /// Waits until the socket is ready for `events` (of poll). Returns false if the socket is not
  /// ready before the time `until`.
  [[nodiscard]] bool WaitFor(short events, Time until) const;

  const int socket_;
  const int64_t message_bytes_max_;
  const std::chrono::milliseconds idle_;
  MemoryShare& memory_;
  std::vector<uint8_t> in_;
  size_t in_at_ = 0;   // index in in_ of the next byte to read
  size_t in_end_ = 0;  // index in in_ after the last received byte
  std::vector<uint8_t> out_;
  int64_t message_bytes_ = 0;  // bytes of the current request that were read
  int64_t wanted_bytes_ = 0;   // memory in bytes that the current request needs so far
  int64_t charged_bytes_ = 0;  // memory in bytes that was charged, in pieces
  Time message_deadline_;
  int64_t sent_bytes_ = 0;  // bytes of the current response that were sent
  Time response_begun_;     // valid if sent_bytes_ is not 0
  Time last_message_ = std::chrono::steady_clock::now();  // time at which the last request ended
  // The value of last_message_ while the connection waits for bytes, otherwise the maximum time.
  std::atomic<Time> silent_since_ = last_message_;
};

/// Returns the protocol of a client, which is detected from the first bytes of its connection:
/// framed or not, binary or compact. Returns null if the bytes belong to another protocol, such as
/// HTTP. Waits for the first bytes.
std::shared_ptr<apache::thrift::protocol::TProtocol> DetectProtocol(
    const std::shared_ptr<Wire>& wire, int32_t message_bytes_max);

}  // namespace hg::thrift2
