#pragma once
// Keeps the memory that the allocator (glibc's malloc) holds close to the memory in use.

#include <cstdint>

namespace hg::tsd {

/// Returns the resident memory of this process in bytes (Linux: RSS), or 0 if /proc is unreadable.
uint64_t ResidentBytes();

/// Only one thread may use the object. A process should have only one object, because it changes
/// settings of malloc.
class Heap {
 public:
  /// Limits the free memory that malloc keeps. `memory_limit_bytes` is tsd.memory.limit.
  explicit Heap(uint64_t memory_limit_bytes);

  /// Call this function about once a second. If the process has grown by an eighth of the limit
  /// since the last trim, it returns free memory of malloc to the system. This takes some
  /// milliseconds per gigabyte, during which other threads may wait for malloc.
  void Trim();

 private:
  const uint64_t growth_bytes_;
  uint64_t lowest_bytes_ = 0;  // minimum of the resident memory since the last trim
};

}  // namespace hg::tsd
