#pragma once
// A clock that changes only when a test sets its time.

#include <atomic>
#include <cstdint>

#include "storage/base/clock.h"

namespace hg {

/// A clock that stands still until a test changes its time. The object is thread-safe.
class ManualClock : public Clock {
 public:
  explicit ManualClock(int64_t now_ms) : now_ms_(now_ms) {}

  [[nodiscard]] int64_t NowMs() const override { return now_ms_; }
  [[nodiscard]] int64_t MonotonicNs() const override { return now_ms_ * 1000000; }
  void SetMs(int64_t now_ms) { now_ms_ = now_ms; }
  void AdvanceMs(int64_t by_ms) { now_ms_ += by_ms; }

 private:
  std::atomic<int64_t> now_ms_;
};

}  // namespace hg
