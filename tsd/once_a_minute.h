#pragma once
// Limits the number of log lines for events that clients can cause very often.

#include <atomic>
#include <cstdint>
#include <limits>

#include "storage/base/clock.h"

namespace hg::tsd {

/// Allows one log line per minute. The object is thread-safe. `clock` must outlive the object.
class OnceAMinute {
 public:
  explicit OnceAMinute(const Clock& clock) : clock_(clock) {}

  /// Returns true at most once a minute. The caller logs the event only if the result is true.
  bool Due() {
    constexpr int64_t kPauseNs = 60'000'000'000;
    const int64_t now_ns = clock_.MonotonicNs();
    int64_t next_ns = next_ns_.load(std::memory_order_relaxed);
    return now_ns >= next_ns && next_ns_.compare_exchange_strong(next_ns, now_ns + kPauseNs);
  }

 private:
  const Clock& clock_;
  std::atomic<int64_t> next_ns_{std::numeric_limits<int64_t>::min()};
};

}  // namespace hg::tsd
