#pragma once
// A want of memory at any allocation of a thread. A program that links test_starve has its own
// operator new.

#include <cstdint>
#include <new>

namespace hg {

namespace internal {
/// Of this thread: so many allocations succeed, the next one fails; < 0: none fails.
int64_t& AllocationsLeft();
}  // namespace internal

/// Whether the work, which gives a Status, came to its end although its allocation n on this thread
/// failed, if it has so many: then *failed. Out of the work nothing may come but bad_alloc.
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
