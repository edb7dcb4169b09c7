#pragma once
// A wall clock that runs faster than the clock of the machine, so that a test can simulate hours of
// a store's life in minutes.

#include <cstdint>

#include "storage/base/clock.h"

namespace hg {

/// A fast clock. Only the wall clock is faster; durations are the same as with the clock of the
/// machine. The object is thread-safe.
class FastClock : public Clock {
 public:
  /// When the clock of the machine shows `at_ms`, this clock shows `begin_ms`. This clock runs
  /// `factor` times as fast as the clock of the machine.
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
