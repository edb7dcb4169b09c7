#pragma once
// The lane of large queries. Every query starts in the fast lane; one that has read or holds more
// than a small one ever does must enter this lane before it goes on. Here a bounded number work at
// once and the others wait in order of arrival, so that small queries never stand behind them.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

#include "query/memory_budget.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"

namespace hg::query {

struct LargeLaneOptions {
  size_t width = 0;         // queries that work at once; 0 = any number
  size_t waiting_max = 64;  // queries that wait; more are refused
  int64_t wait_max_ms = 60'000;
};

/// Thread-safe.
class LargeLane {
 public:
  /// Both outlive the lane. No query starts while others have taken more than half of `memory`.
  LargeLane(LargeLaneOptions options, const MemoryBudget& memory, const Clock& clock)
      : options_(options), memory_(memory), clock_(clock) {}

  /// Waits for a place; the query holds `held` bytes of the memory. Busy: too many wait, or it took
  /// too long. What `look` fails with, polled meanwhile without a lock held, ends the waiting, too.
  Status Enter(int64_t held, const std::function<Status()>& look);
  /// After an Enter that went well.
  void Leave();

  [[nodiscard]] size_t working();
  [[nodiscard]] size_t waiting();

 private:
  [[nodiscard]] bool MayStart(int64_t held) const;

  const LargeLaneOptions options_;
  const MemoryBudget& memory_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable moved_;
  size_t working_ = 0;      // guarded by mutex_
  std::list<int> waiting_;  // guarded by mutex_: one node for each that waits, first come first
};

}  // namespace hg::query
