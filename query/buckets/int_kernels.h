#pragma once
// Operations on the integers of a bucket that use the widest registers of the processor. All
// implementations give the same results.

#include <cstdint>
#include <span>
#include <vector>

namespace hg::query {

/// Two results for all values v: their wrapping sum, and the OR of v ^ (v << 1). The OR bounds the
/// magnitude of the values.
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

/// Returns the implementations that this processor can run, from the plain one to the fastest.
std::vector<IntKernels> UsableIntKernels();

}  // namespace hg::query
