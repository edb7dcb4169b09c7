#pragma once
// Integers of a bucket folded by the widest registers that the processor has. All ways give the
// same.

#include <cstdint>
#include <span>
#include <vector>

namespace hg::query {

/// The sum, wrapping, and the bits above the sign of any value.
struct IntTotal {
  uint64_t sum = 0;
  uint64_t bits = 0;

  bool operator==(const IntTotal&) const = default;
};

struct IntKernels {
  IntTotal (*total)(std::span<const int64_t> values);
  int64_t (*least)(std::span<const int64_t> values);  // at least one value, as the next
  int64_t (*greatest)(std::span<const int64_t> values);
};

/// Those that this processor can run: the plain way first, the one to be taken last.
std::vector<IntKernels> UsableIntKernels();

}  // namespace hg::query
