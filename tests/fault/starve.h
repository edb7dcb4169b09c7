#pragma once
// Simulates the failure of any single allocation of a thread, and measures how many bytes a thread
// allocates. A program that links the library test_starve uses the operator new of this library.

#include <cstdint>
#include <new>

namespace hg {

namespace internal {
/// The number of allocations of this thread that will succeed before one allocation fails. If the
/// number is negative, no allocation fails.
int64_t& AllocationsLeft();
/// The bytes that a thread has allocated minus the bytes that it has freed, and the largest value
/// of this difference so far.
struct Allocated {
  int64_t bytes = 0;
  int64_t most = 0;
};
Allocated& AllocatedBytes();
}  // namespace internal

/// Runs `work`, which returns a Status, and makes one allocation of this thread fail during the
/// run: `n` allocations succeed before it. Returns whether the status was OK. Sets `*failed` to
/// whether `work` made so many allocations that this allocation failed. The only exception that
/// `work` may throw is bad_alloc.
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

/// Runs `work`. Returns the maximum number of bytes that this thread held during the run, in
/// addition to the bytes that it held before.
template <typename Work>
int64_t MostAllocated(const Work& work) {
  internal::Allocated& allocated = internal::AllocatedBytes();
  const int64_t before = allocated.most = allocated.bytes;
  work();
  return allocated.most - before;
}

}  // namespace hg
