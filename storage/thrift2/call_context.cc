#include "storage/thrift2/call_context.h"

#include <poll.h>

#include <string>

namespace hg::thrift2 {
namespace {

// Number of steps between two checks of clock and socket: some milliseconds of work.
constexpr uint64_t kStepsBetweenLooks = 200'000;

}  // namespace

bool MemoryShare::Take(int64_t bytes) {
  if (held_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
  Give(bytes);
  return false;
}

void CallContext::Begin(int socket) {
  socket_ = socket;
  deadline_ = std::chrono::steady_clock::now() + call_time_;
  steps_.store(0, std::memory_order_relaxed);
}

Status CallContext::Step(uint64_t steps) {
  if (stopping_.load(std::memory_order_relaxed)) return Status::Unavailable("the server stops");
  if (steps_.fetch_add(steps, std::memory_order_relaxed) + steps < kStepsBetweenLooks) return {};
  steps_.store(0, std::memory_order_relaxed);
  return Look();
}

Status CallContext::Look() const {
  if (std::chrono::steady_clock::now() >= deadline_) {
    return Status::DeadlineExceeded("callTimeout=" + std::to_string(call_time_.count()) +
                                    ": the call takes longer; read fewer rows");
  }
  pollfd peer{socket_, POLLRDHUP, 0};
  if (::poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
    return Status::Unavailable("the client is gone");
  }
  return {};
}

Status CallContext::Charge(int64_t bytes) {
  if (bytes <= 0) {
    memory_.Give(-bytes);
    return {};
  }
  if (memory_.Take(bytes)) return {};
  return Status::Busy("the memory for calls of Thrift2 clients, " +
                      std::to_string(memory_.bytes_max()) + " bytes, is used up");
}

}  // namespace hg::thrift2
