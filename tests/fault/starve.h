#pragma once
// Simulates an allocation failure at any allocation of a thread. A program that links test_starve
// has its own operator new.

#include <cstdint>
#include <new>

namespace hg {

namespace internal {
/// The number of allocations of this thread before the one that fails. Negative: none fails.
int64_t& AllocationsLeft();
}  // namespace internal

/// Runs `work`, which returns a Status, while allocation n of this thread fails. Returns whether
/// the status was ok. Sets *failed to whether `work` made that many allocations. `work` may throw
/// only bad_alloc.
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
