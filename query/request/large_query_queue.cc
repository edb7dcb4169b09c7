#include "query/request/large_query_queue.h"

#include <chrono>

#include "storage/base/survive.h"

namespace hg::query {
namespace {

// The interval at which a waiting query checks whether its client has closed the connection or
// memory was freed.
constexpr auto kPoll = std::chrono::milliseconds(50);

}  // namespace

bool LargeQueryQueue::MayStart(int64_t waiting_bytes) const {
  return (options_.width == 0 || working_ < options_.width) && memory_.roomy(waiting_bytes);
}

Status LargeQueryQueue::Enter(int64_t held, const std::function<Status()>& look) {
  std::unique_lock lock(mutex_);
  if (waiting_.empty() && MayStart(held)) {
    ++working_;
    return {};
  }
  if (waiting_.size() >= options_.waiting_max) {
    return Status::Busy("Too many large queries are waiting (" + std::to_string(waiting_.size()) +
                        "); please try again later");
  }
  const int64_t began_ns = clock_.MonotonicNs();
  const auto place = waiting_.insert(waiting_.end(), held);
  waiting_bytes_ += held;
  Status status;
  while (status.ok() && (place != waiting_.begin() || !MayStart(waiting_bytes_))) {
    moved_.wait_for(lock, kPoll);
    lock.unlock();
    // Other queries wait behind this query, so it must leave the queue even if `look` throws an
    // exception.
    status = Survive([&] {
      const Status looked = look();
      const int64_t waited_ms = (clock_.MonotonicNs() - began_ns) / 1'000'000;
      if (!looked.ok() || waited_ms <= options_.wait_max_ms) return looked;
      return Status::Busy("The query waited " + std::to_string(waited_ms) +
                          " ms behind other large ones; please try again later");
    });
    lock.lock();
  }
  waiting_.erase(place);
  waiting_bytes_ -= held;
  if (status.ok()) ++working_;
  moved_.notify_all();
  return status;
}

void LargeQueryQueue::Leave() {
  {
    std::lock_guard lock(mutex_);
    --working_;
  }
  moved_.notify_all();
}

size_t LargeQueryQueue::working() {
  std::lock_guard lock(mutex_);
  return working_;
}

size_t LargeQueryQueue::waiting() {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace hg::query
