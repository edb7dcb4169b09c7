#pragma once
// Aggregates the integers of a bucket with the widest vector registers of the processor. The
// results are the same on every processor.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hg::query {

/// Number of values that one iteration of the loops over a bucket processes.
inline constexpr size_t kLanes = 8;
inline constexpr auto kLess = [](auto a, auto b) { return a < b; };
inline constexpr auto kMore = [](auto a, auto b) { return a > b; };

/// Two totals of a list of values. `sum` is the sum of all values modulo 2^64. `bits` is the
/// bitwise OR of v ^ (v << 1) for each value v; it gives an upper bound for the magnitude of the
/// values.
struct IntTotal {
  uint64_t sum = 0;
  uint64_t bits = 0;

  bool operator==(const IntTotal&) const = default;
};

struct IntKernels {
  IntTotal (*total)(std::span<const int64_t> values);
  /// `least` returns the minimum of the values. `greatest` returns the maximum of the values. Both
  /// need at least one value.
  int64_t (*least)(std::span<const int64_t> values);
  int64_t (*greatest)(std::span<const int64_t> values);
};

/// Returns the implementations of IntKernels that this processor can run, from the slowest to the
/// fastest.
std::vector<IntKernels> UsableIntKernels();

}  // namespace hg::query
