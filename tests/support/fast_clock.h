#pragma once
// A wall clock that runs faster than the machine's, to test hours of a store's life in minutes.

#include <cstdint>

#include "storage/base/clock.h"

namespace hg {

/// Thread-safe. Only the wall clock is faster; durations are as on the machine's clock.
class FastClock : public Clock {
 public:
  /// This clock shows `begin_ms` when the machine's clock shows `at_ms`. It runs `factor` times as
  /// fast as the machine's clock.
  FastClock(int64_t begin_ms, int64_t at_ms, int64_t factor)
      : begin_ms_(begin_ms), at_ms_(at_ms), factor_(factor) {}

  [[nodiscard]] int64_t NowMs() const override {
    return begin_ms_ + (SystemClock().NowMs() - at_ms_) * factor_;
  }
  [[nodiscard]] int64_t MonotonicNs() const override { return SystemClock().MonotonicNs(); }

 private:
  const int64_t begin_ms_;
  const int64_t at_ms_;
  const int64_t factor_;
};

}  // namespace hg
