#pragma once
// Computes how many regions are suitable for the memory of a store (region-store.md R20), and how
// many regions are possible with the files that the process may open.

#include <algorithm>
#include <cstdint>

namespace hg::region {

/// A memtable is flushed when it is larger than 1/kFlushedPart of the limit of unflushed data.
inline constexpr uint64_t kFlushedPart = 4;

/// Returns the maximum advisable number of regions over all tables. A flush writes one or two files
/// per region. If there are more regions, files become smaller than a megabyte. `memory_bytes` is
/// the limit of unflushed data.
inline uint64_t RegionsAdvised(uint64_t memory_bytes) {
  return std::max<uint64_t>(1, memory_bytes / kFlushedPart >> 20);
}

/// Maximum number of regions over all tables. Clients cannot create more regions.
inline constexpr uint64_t kRegionsMax = 2000;
/// Number of files that the process must be able to open for each region. A region has a few parts
/// of one or two files each, and all these files are open.
inline constexpr uint64_t kFilesPerRegion = 8;

/// Returns the maximum number of regions over all tables in a process that may open
/// `open_files_max` files.
inline uint64_t RegionsWithin(uint64_t open_files_max) {
  return std::min(kRegionsMax, open_files_max / kFilesPerRegion);
}

}  // namespace hg::region
