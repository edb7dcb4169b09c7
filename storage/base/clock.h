#pragma once
// The interface of the clock. Code that needs the current time gets a Clock through its
// constructor, so that tests can pass another clock.

#include <cstdint>

namespace hg {

/// The clock of a machine or of a test. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Returns the wall clock in milliseconds since the epoch. The value may step backwards.
  [[nodiscard]] virtual int64_t NowMs() const = 0;
  /// Returns the time of a monotonic clock in nanoseconds. Use it to measure durations.
  [[nodiscard]] virtual int64_t MonotonicNs() const = 0;
};

/// Returns the clock of the machine. This object is never destroyed.
const Clock& SystemClock();

}  // namespace hg
