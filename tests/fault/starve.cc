#include "tests/fault/starve.h"

#include <cstdlib>

namespace {
thread_local int64_t allocations_left = -1;
}  // namespace

namespace hg::internal {
int64_t& AllocationsLeft() { return allocations_left; }
}  // namespace hg::internal

void* operator new(size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// std::stable_sort requests its buffer in this way, and works without it.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
