#pragma once
// Simulates an allocation failure at any allocation of a thread, and measures how many bytes a
// thread allocates. A program that links the library test_starve uses the operator new of this
// library.

#include <cstdint>
#include <new>

namespace hg {

namespace internal {
/// The number of allocations of this thread that succeed before one allocation fails. If the number
/// is negative, no allocation fails.
int64_t& AllocationsLeft();
/// The bytes that this thread has allocated minus those that it has freed, and the largest value
/// that this difference has had.
struct Allocated {
  int64_t bytes = 0;
  int64_t most = 0;
};
Allocated& AllocatedBytes();
}  // namespace internal

/// Runs `work`, which returns a Status, and makes allocation n of this thread fail during the run.
/// Returns whether the status was OK. Sets *failed to whether `work` made so many allocations that
/// allocation n failed. The only exception that `work` may throw is bad_alloc.
template <typename Work>
bool Starve(int64_t n, bool* failed, const Work& work) {
  int64_t& left = internal::AllocationsLeft();
  left = n;
  bool ok = false;
  try {
    ok = work().ok();
  } catch (const std::bad_alloc&) {
  }
  *failed = left < 0;
  left = -1;
  return ok;
}

/// Runs `work` and returns how many bytes more than at its beginning this thread held at most.
template <typename Work>
int64_t MostAllocated(const Work& work) {
  internal::Allocated& allocated = internal::AllocatedBytes();
  const int64_t before = allocated.most = allocated.bytes;
  work();
  return allocated.most - before;
}

}  // namespace hg
