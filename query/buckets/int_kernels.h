#pragma once
// Operations on the integers of a bucket, with the widest registers of the processor. Every
// processor computes the same results.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hg::query {

/// Number of values that one iteration of a loop over a bucket processes.
inline constexpr size_t kLanes = 8;
inline constexpr auto kLess = [](auto a, auto b) { return a < b; };
inline constexpr auto kMore = [](auto a, auto b) { return a > b; };

/// Two totals of all values v: their sum modulo 2^64, and the bitwise OR of all v ^ (v << 1). The
/// bitwise OR gives an upper bound for the magnitude of the values.
struct IntTotal {
  uint64_t sum = 0;
  uint64_t bits = 0;

  bool operator==(const IntTotal&) const = default;
};

struct IntKernels {
  IntTotal (*total)(std::span<const int64_t> values);
  /// least returns the minimum of the values, and greatest returns the maximum. Both need at least
  /// one value.
  int64_t (*least)(std::span<const int64_t> values);
  int64_t (*greatest)(std::span<const int64_t> values);
};

/// Returns the implementations of the operations that this processor can run, from the slowest to
/// the fastest.
std::vector<IntKernels> UsableIntKernels();

}  // namespace hg::query
