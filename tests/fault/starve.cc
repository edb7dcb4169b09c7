#include "tests/fault/starve.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>

namespace {
thread_local int64_t allocations_left = -1;
thread_local hg::internal::Allocated allocated;

void* Count(void* p) {
  if (p != nullptr) allocated.bytes += static_cast<int64_t>(malloc_usable_size(p));
  allocated.most = std::max(allocated.most, allocated.bytes);
  return p;
}
void Free(void* p) {
  if (p != nullptr) allocated.bytes -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}
}  // namespace

namespace hg::internal {
int64_t& AllocationsLeft() { return allocations_left; }
Allocated& AllocatedBytes() { return allocated; }
}  // namespace hg::internal

void* operator new(size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* p = Count(std::malloc(bytes))) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// std::stable_sort requests its buffer in this way, and works without it.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return Count(std::malloc(bytes));
}
// simdjson gets its buffers from this function. Without it, a sanitizer would allocate the buffers,
// and operator delete[] below would free memory that it did not allocate.
void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* p) noexcept { Free(p); }
void operator delete[](void* p) noexcept { Free(p); }
void operator delete(void* p, size_t) noexcept { Free(p); }
void operator delete[](void* p, size_t) noexcept { Free(p); }
