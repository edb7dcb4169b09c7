#pragma once
// Simulates an allocation failure at any allocation of a thread. A program that links the library
// test_starve uses the operator new of that library.

#include <cstdint>
#include <new>

namespace hg {

namespace internal {
/// The number of allocations that this thread makes before one fails. Negative: none fails.
int64_t& AllocationsLeft();
}  // namespace internal

/// Runs `work`, which returns a Status, and makes allocation n of this thread fail meanwhile.
/// Returns whether the status was ok. Sets *failed to whether `work` made that many allocations.
/// The only exception that `work` may throw is bad_alloc.
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

}  // namespace hg
