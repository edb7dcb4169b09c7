#pragma once
// The wall clock as a seam: everything that asks "now" gets a Clock through its constructor.

#include <cstdint>

namespace hg {

/// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since the epoch; may step backwards.
  [[nodiscard]] virtual int64_t NowMs() const = 0;
  /// Monotonic nanoseconds for measuring durations.
  [[nodiscard]] virtual int64_t MonotonicNs() const = 0;
};

/// The machine's clocks. Lives for ever.
const Clock& SystemClock();

}  // namespace hg
