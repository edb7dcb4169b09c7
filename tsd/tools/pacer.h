#pragma once
// Limits the total rate at which several readers read.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hg::tsd {

/// Computes when readers may continue. The object is not thread-safe.
class Pacer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Pacer(uint64_t bytes_per_s) : bytes_per_s_(static_cast<double>(bytes_per_s)) {}

  /// Returns the time at which a reader may continue after it has read `bytes` bytes at the time
  /// `now`. All readers share the rate. If they read more slowly than the rate for some time, they
  /// may not exceed the rate afterwards.
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
