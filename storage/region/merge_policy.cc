#include "storage/region/merge_policy.h"

#include <algorithm>

namespace hg::region {
namespace {

constexpr double kRatio = 1.5;
// Merging runs below this size costs nothing that anybody would notice.
constexpr uint64_t kSmallBytes = 4 << 20;

}  // namespace

size_t RunsToMerge(std::span<const uint64_t> bytes) {
  uint64_t sum = 0;
  size_t count = 0;
  for (const uint64_t size : bytes) {
    const bool fits = count == 0 || size <= kSmallBytes ||
                      static_cast<double>(size) <= kRatio * static_cast<double>(sum);
    if (!fits || count == kMergeMax) break;
    sum += size;
    ++count;
  }
  if (count >= kMergeMin) return count;
  return bytes.size() > kRunsMax ? kMergeMax : 0;
}

}  // namespace hg::region
