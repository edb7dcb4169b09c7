#pragma once
// The queue of large queries. A query starts without entering the queue. If a query has read more
// rows or holds more memory than a small query may, it must enter the queue before it continues.
// The server runs only a limited number of large queries at a time. All other large queries wait in
// order of arrival. Small queries never wait for large ones.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

#include "query/request/memory_budget.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"

namespace hg::query {

struct LargeQueryQueueOptions {
  size_t width = 0;  // maximum number of large queries that run at a time; 0 = no limit
  /// Maximum number of large queries that wait; further large queries fail with Busy.
  size_t waiting_max = 64;
  int64_t wait_max_ms = 60'000;
};

/// The queue of large queries. It is thread-safe.
class LargeQueryQueue {
 public:
  /// `memory` and `clock` must outlive the queue. The queue starts no large query while more than
  /// half of the budget `memory` is in use. The memory of queries that wait in the queue is not
  /// counted for this purpose, because these queries cannot free memory before they have started.
  LargeQueryQueue(LargeQueryQueueOptions options, const MemoryBudget& memory, const Clock& clock)
      : options_(options), memory_(memory), clock_(clock) {}

  /// Waits until the query may run. `held` is the memory in bytes that the query holds. While the
  /// query waits, Enter calls `look` again and again, without holding a lock. If `look` returns an
  /// error, Enter returns this error. Busy: too many queries wait, or this query has waited too
  /// long.
  Status Enter(int64_t held, const std::function<Status()>& look);
  /// Tells the queue that a large query has ended, so that the next query can start. Call this
  /// function once after each successful Enter.
  void Leave();

  [[nodiscard]] size_t working();
  [[nodiscard]] size_t waiting();

 private:
  /// Returns whether a large query may start now. `waiting_bytes` is the memory of all waiting
  /// queries in bytes, including the query that calls this function. The caller must hold mutex_.
  [[nodiscard]] bool MayStart(int64_t waiting_bytes) const;

  const LargeQueryQueueOptions options_;
  const MemoryBudget& memory_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable moved_;
  size_t working_ = 0;         // number of large queries that run now; guarded by mutex_
  int64_t waiting_bytes_ = 0;  // sum of the elements of waiting_; guarded by mutex_
  // The waiting queries in order of arrival. Each element is the number of bytes that the query
  // held when it arrived. Guarded by mutex_.
  std::list<int64_t> waiting_;
};

}  // namespace hg::query
