#pragma once
// The queue of large queries. Every query starts outside of the queue. A query that exceeds the
// limits of small queries, for rows read or memory held, must enter the queue before it continues.
// Only a limited number of large queries work at once. The others wait in order of arrival, so
// small queries never wait for large ones.

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
  size_t width = 0;         // queries that may work at once; 0 = no limit
  size_t waiting_max = 64;  // queries that may wait; more are rejected
  int64_t wait_max_ms = 60'000;
};

/// Thread-safe.
class LargeQueryQueue {
 public:
  /// Both references must outlive the object. No large query starts while more than half of
  /// `memory` is in use by other requests than those that wait in this queue. The memory of waiting
  /// queries is not counted, because they free it only after they have started.
  LargeQueryQueue(LargeQueryQueueOptions options, const MemoryBudget& memory, const Clock& clock)
      : options_(options), memory_(memory), clock_(clock) {}

  /// Waits until the query may work. `held` is the memory in bytes that this query holds. Busy: too
  /// many queries wait, or the wait was too long. While it waits, it calls `look` repeatedly,
  /// without a lock. If `look` returns an error, Enter returns this error.
  Status Enter(int64_t held, const std::function<Status()>& look);
  /// Ends the work of a large query, so that the next query may start. Call this function once
  /// after each successful Enter.
  void Leave();

  [[nodiscard]] size_t working();
  [[nodiscard]] size_t waiting();

 private:
  /// Returns whether a large query may start. `waiting_bytes` is the memory of all queries that
  /// wait, including the caller.
  [[nodiscard]] bool MayStart(int64_t waiting_bytes) const;

  const LargeQueryQueueOptions options_;
  const MemoryBudget& memory_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable moved_;
  size_t working_ = 0;         // number of queries that run now; guarded by mutex_
  int64_t waiting_bytes_ = 0;  // guarded by mutex_; sum of the elements of waiting_
  // Guarded by mutex_; in order of arrival: the bytes that each waiting query held when it arrived.
  std::list<int64_t> waiting_;
};

}  // namespace hg::query
