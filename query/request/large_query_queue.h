#pragma once
// The queue of large queries. Every query starts outside of it. A query that has read, or holds,
// more than the limits of small queries must enter LargeQueryQueue before it continues. A bounded
// number of large queries work at once and the others wait in order of arrival, so small queries
// never wait for large ones.

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
  size_t width = 0;         // queries that work at once; 0 = no limit
  size_t waiting_max = 64;  // queries that may wait; more are refused
  int64_t wait_max_ms = 60'000;
};

/// Thread-safe.
class LargeQueryQueue {
 public:
  /// Both references must outlive the object. No large query starts while requests that do not wait
  /// in this queue hold more than half of `memory`. Memory of waiting queries is not counted,
  /// because it is freed only after they have started.
  LargeQueryQueue(LargeQueryQueueOptions options, const MemoryBudget& memory, const Clock& clock)
      : options_(options), memory_(memory), clock_(clock) {}

  /// Waits until the query may work. `held` is the memory in bytes that the query itself holds.
  /// Busy: too many queries wait, or the wait was too long. Calls `look` repeatedly without a lock
  /// while it waits, and returns its error if it fails.
  Status Enter(int64_t held, const std::function<Status()>& look);
  /// Ends the work of a large query, so that the next one may start. Call this function after a
  /// successful Enter.
  void Leave();

  [[nodiscard]] size_t working();
  [[nodiscard]] size_t waiting();

 private:
  /// Returns whether a large query may start. `waiting_bytes`: memory of the queries that wait,
  /// including the caller.
  [[nodiscard]] bool MayStart(int64_t waiting_bytes) const;

  const LargeQueryQueueOptions options_;
  const MemoryBudget& memory_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable moved_;
  size_t working_ = 0;         // guarded by mutex_
  int64_t waiting_bytes_ = 0;  // guarded by mutex_; sum of the elements of waiting_
  // Guarded by mutex_; bytes that each waiting query held when it arrived, in order of arrival.
  std::list<int64_t> waiting_;
};

}  // namespace hg::query
