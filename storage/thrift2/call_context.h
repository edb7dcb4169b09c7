#pragma once
// Limits of Thrift2 calls: a memory limit that all connections share, and a time limit for each
// call. A call also ends when its client has disconnected.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "storage/base/request_context.h"

namespace hg::thrift2 {

/// A limited amount of memory that several calls share. Thread-safe.
class MemoryShare {
 public:
  explicit MemoryShare(int64_t bytes_max) : bytes_max_(bytes_max) {}
  /// Takes `bytes` of memory. If the limit would be exceeded, takes nothing and returns false.
  bool Take(int64_t bytes);
  void Give(int64_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] int64_t held() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] int64_t bytes_max() const { return bytes_max_; }

 private:
  const int64_t bytes_max_;
  std::atomic<int64_t> held_{0};
};

/// The request context for the calls of one connection, or for the fetches of one scanner. The end
/// of a call does not free charged memory. Code that charges memory must also report it as freed.
class CallContext final : public RequestContext {
 public:
  /// All arguments must outlive the object.
  CallContext(MemoryShare& memory, const std::atomic<bool>& stopping,
              std::chrono::milliseconds call_time)
      : memory_(memory), stopping_(stopping), call_time_(call_time) {}

  /// Begins a call. The time limit of the call starts now. `socket` is the connection of the
  /// client.
  void Begin(int socket);

  /// Reports work. Returns DeadlineExceeded if the call takes too long. Returns Unavailable if the
  /// server is stopping or the client has disconnected.
  Status Step(uint64_t steps) override;
  /// Charges memory. Returns Busy if the memory limit is reached.
  Status Charge(int64_t bytes) override;

 private:
  Status Look() const;

  MemoryShare& memory_;
  const std::atomic<bool>& stopping_;
  const std::chrono::milliseconds call_time_;
  std::chrono::steady_clock::time_point deadline_;
  int socket_ = -1;
  std::atomic<uint64_t> steps_{0};  // steps since the last check of the clock and the socket
};

}  // namespace hg::thrift2
