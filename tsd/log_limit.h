#pragma once
// Limits how often events of one kind are logged.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "storage/base/clock.h"

namespace hg::tsd {

/// Admits at most one event per second to the log on average, and only counts all other events.
/// Thus a client that causes many events cannot fill the disk with log lines. The object is
/// thread-safe.
class LogLimit {
 public:
  /// After a pause of `burst` seconds, `burst` events are admitted at once. `clock` must outlive
  /// the object.
  explicit LogLimit(const Clock& clock, int burst = 1) : clock_(clock), burst_(burst) {}

  /// If the event must not be logged, returns nullopt. Otherwise, returns the number of events
  /// since the last admitted event for which Admit returned nullopt.
  std::optional<int64_t> Admit() {
    constexpr int64_t kIntervalNs = 1'000'000'000;
    const std::lock_guard lock(mutex_);
    const int64_t now_ns = clock_.MonotonicNs();
    if (now_ns < next_ns_) {
      ++untold_;
      return std::nullopt;
    }
    next_ns_ = std::max(next_ns_ + kIntervalNs, now_ns - (burst_ - 1) * kIntervalNs + kIntervalNs);
    return std::exchange(untold_, 0);
  }

 private:
  const Clock& clock_;
  const int burst_;
  std::mutex mutex_;
  int64_t next_ns_ = 0;  // nothing is admitted before this monotonic time; guarded by mutex_
  int64_t untold_ = 0;   // events not admitted since the last admitted one; guarded by mutex_
};

}  // namespace hg::tsd
