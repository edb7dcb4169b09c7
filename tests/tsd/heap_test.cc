#include "tsd/heap.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <memory>
#include <vector>

namespace hg::tsd {
namespace {

// Sanitizers bring their own allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnAllocator = true;
#else
constexpr bool kOwnAllocator = false;
#endif

constexpr uint64_t kMiB = 1 << 20;

TEST_CASE("memory that was freed behind a small block is returned to the system" *
          doctest::skip(kOwnAllocator)) {
  Heap heap(64 * kMiB);
  heap.Trim();
  const uint64_t before = ResidentBytes();
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 64 * 1024; ++i) blocks.push_back(std::make_unique<char[]>(1024));
  CHECK(ResidentBytes() > before + 60 * kMiB);
  blocks.erase(blocks.begin(), blocks.end() - 1);
  CHECK(ResidentBytes() > before + 50 * kMiB);
  heap.Trim();
  CHECK(ResidentBytes() < before + 10 * kMiB);
}

TEST_CASE("a process that grows by less than an eighth of its limit is left alone" *
          doctest::skip(kOwnAllocator)) {
  Heap heap(1024 * kMiB);
  heap.Trim();
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 64 * 1024; ++i) blocks.push_back(std::make_unique<char[]>(1024));
  blocks.erase(blocks.begin(), blocks.end() - 1);
  const uint64_t freed = ResidentBytes();
  heap.Trim();
  CHECK(ResidentBytes() > freed - 10 * kMiB);
}

TEST_CASE("small blocks that were freed do not wait in fast bins" * doctest::skip(kOwnAllocator)) {
  const Heap heap(64 * kMiB);
  const size_t before = mallinfo2().fsmblks;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 10'000; ++i) blocks.push_back(std::make_unique<char[]>(40));
  blocks.clear();
  CHECK(mallinfo2().fsmblks == before);
}

}  // namespace
}  // namespace hg::tsd
