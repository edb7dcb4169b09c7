#pragma once
// Operations on the integers of a bucket. They use the widest registers of the processor. All
// implementations give the same results.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hg::query {

/// Number of values that the loops over a bucket process together.
inline constexpr size_t kLanes = 8;
inline constexpr auto kLess = [](auto a, auto b) { return a < b; };
inline constexpr auto kMore = [](auto a, auto b) { return a > b; };

/// Two results over all values v: their wrapping sum, and the OR of all v ^ (v << 1), from which a
/// bound for the magnitude of the values follows.
struct IntTotal {
  uint64_t sum = 0;
  uint64_t bits = 0;

  bool operator==(const IntTotal&) const = default;
};

struct IntKernels {
  IntTotal (*total)(std::span<const int64_t> values);
  int64_t (*least)(std::span<const int64_t> values);  // least and greatest need at least one value
  int64_t (*greatest)(std::span<const int64_t> values);
};

/// Returns the implementations that this processor can run, from the slowest to the fastest.
std::vector<IntKernels> UsableIntKernels();

}  // namespace hg::query
