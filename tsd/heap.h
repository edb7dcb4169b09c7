#pragma once
// Limits the free memory that the allocator (glibc's malloc) holds, so that the process does not
// hold much more memory than it uses.

#include <cstdint>

namespace hg::tsd {

/// Returns the resident memory of this process in bytes (RSS of Linux), or 0 if /proc cannot be
/// read.
uint64_t ResidentBytes();

/// Controls the free memory of malloc. Only one thread may use the object. A process should have
/// only one such object, because it changes settings of malloc.
class Heap {
 public:
  /// Limits the free memory that malloc holds. `memory_limit_bytes` is the value of
  /// tsd.memory.limit.
  explicit Heap(uint64_t memory_limit_bytes);

  /// Returns free memory of malloc to the system if the resident memory has grown by an eighth of
  /// the memory limit above its minimum since the last trim. Call this function about once a
  /// second. A trim takes some milliseconds per gigabyte, and other threads may wait for malloc
  /// during this time.
  void Trim();

 private:
  const uint64_t growth_bytes_;
  uint64_t lowest_bytes_ = 0;  // minimum resident memory since the last trim; 0 = no trim yet
};

}  // namespace hg::tsd
