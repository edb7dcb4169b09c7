#pragma once
// Turns of readers that together stay below a rate.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hg::tsd {

/// One thread at a time.
class Pacer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Pacer(uint64_t bytes_per_s) : bytes_per_s_(static_cast<double>(bytes_per_s)) {}

  /// When `bytes` that are there `now` may be gone on with: by then all before them have taken
  /// their time. Time that nobody used is not made up for.
  Time TurnOf(size_t bytes, Time now) {
    const Time turn = std::max(next_, now);
    const std::chrono::duration<double> cost(static_cast<double>(bytes) / bytes_per_s_);
    next_ = turn + std::chrono::duration_cast<Time::duration>(cost);
    return turn;
  }

 private:
  const double bytes_per_s_;
  Time next_{};
};

}  // namespace hg::tsd
