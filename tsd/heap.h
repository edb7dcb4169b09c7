#pragma once
// Keeps the memory that the allocator (glibc's malloc) holds close to what the program uses.

#include <cstdint>

namespace hg::tsd {

/// Returns the bytes of this process that are in memory (Linux: RSS). 0 if /proc cannot be read.
uint64_t ResidentBytes();

/// Only one thread may use the object. A process should have only one object, because it changes
/// settings of malloc.
class Heap {
 public:
  /// Limits what malloc keeps, for the whole process. `memory_limit_bytes`: tsd.memory.limit.
  explicit Heap(uint64_t memory_limit_bytes);

  /// Call this about once a second. If the process has grown by an eighth of the limit since the
  /// last trim, free memory inside malloc's arenas is returned to the system. This takes some
  /// milliseconds per gigabyte, during which other threads may wait for malloc.
  void Trim();

 private:
  const uint64_t growth_bytes_;
  uint64_t lowest_bytes_ = 0;  // the resident memory after the last trim, or less
};

}  // namespace hg::tsd
