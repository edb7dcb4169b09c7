#pragma once
// Computes how many regions are suitable for the memory of a store (region-store.md R20).

#include <algorithm>
#include <cstdint>

namespace hg::region {

/// Returns the maximum advisable number of regions over all tables. A quarter of the memory is
/// flushed at a time, with one or two files per region. With more regions, files become smaller
/// than a megabyte. `memory_bytes` is the limit of unflushed data.
inline uint64_t RegionsAdvised(uint64_t memory_bytes) {
  return std::max<uint64_t>(1, memory_bytes / 4 >> 20);
}

}  // namespace hg::region
