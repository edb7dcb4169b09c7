#pragma once
// How many regions a store of some memory does well with (spec region-store.md R20).

#include <algorithm>
#include <cstdint>

namespace hg::region {

/// Memory is flushed a quarter at a time, a file or two for each region: more regions than this, of
/// all tables, and files become smaller than a megabyte. `memory_bytes`: what may be unflushed.
inline uint64_t RegionsAdvised(uint64_t memory_bytes) {
  return std::max<uint64_t>(1, memory_bytes / 4 >> 20);
}

}  // namespace hg::region
