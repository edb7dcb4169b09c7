#include "storage/lsm/block_cache.h"

#include <doctest/doctest.h>

#include <thread>

namespace hg::lsm {
namespace {

std::shared_ptr<const Bytes> Block(size_t bytes = 1000) {
  return std::make_shared<const Bytes>(bytes, 'b');
}

// Gets a block. A block that is absent is read and cached. Returns whether it was in the cache.
bool Hit(BlockCache& cache, uint64_t file, size_t block, bool in_memory = false) {
  if (cache.Find(file, block) != nullptr) return true;
  cache.Insert(file, block, Block(), in_memory);
  return false;
}

TEST_CASE("a full scan does not evict blocks that are used repeatedly") {
  constexpr uint64_t kCapacity = 1 << 20;
  constexpr size_t kHot = 300;
  BlockCache cache(kCapacity);
  const auto hot_hits = [&cache] {
    size_t hits = 0;
    for (size_t i = 0; i < kHot; ++i) hits += Hit(cache, 1, i) ? 1 : 0;
    return hits;
  };
  hot_hits();
  REQUIRE(hot_hits() == kHot);
  for (size_t i = 0; i < 20'000; ++i) {
    Hit(cache, 2, i);
    REQUIRE(cache.Stats().bytes <= kCapacity);
    // Gets continue meanwhile.
    if (i % 50 == 0) Hit(cache, 1, i / 50 % kHot);
  }
  CHECK(hot_hits() > kHot * 95 / 100);
  CHECK(cache.Stats().evicted > 15'000);
}

TEST_CASE("blocks of in-memory families keep their quarter during a scan") {
  constexpr uint64_t kCapacity = 1 << 20;
  BlockCache cache(kCapacity);
  constexpr size_t kNames = kCapacity / 4 / 1400;
  for (size_t i = 0; i < kNames; ++i) Hit(cache, 1, i, true);
  for (size_t i = 0; i < 20'000; ++i) {
    Hit(cache, 2, i);
    Hit(cache, 2, i);
  }
  size_t kept = 0;
  for (size_t i = 0; i < kNames; ++i) kept += cache.Find(1, i) != nullptr ? 1 : 0;
  CHECK(kept == kNames);
}

TEST_CASE("the cache never holds more than its capacity") {
  for (const uint64_t capacity : {uint64_t{0}, uint64_t{5000}, uint64_t{1} << 20}) {
    BlockCache cache(capacity);
    for (size_t i = 0; i < 3000; ++i) {
      const size_t size = 1 + i * 7919 % 9000;
      cache.Insert(i % 3, i, Block(size), i % 5 == 0);
      if (i % 4 == 0) (void)cache.Find(i % 3, i);
      REQUIRE(cache.Stats().bytes <= capacity);
    }
    CHECK((cache.Stats().bytes > 0) == (capacity > 0));
  }
  BlockCache cache(uint64_t{1} << 30);
  cache.Insert(1, 1, Block((16 << 20) + 1), false);
  CHECK(cache.Find(1, 1) == nullptr);
}

TEST_CASE("the blocks of a file are removed with it") {
  BlockCache cache(1 << 20);
  CHECK(cache.NewFile() != cache.NewFile());
  for (size_t i = 0; i < 50; ++i) {
    Hit(cache, 1, i);
    Hit(cache, 2, i);
  }
  const uint64_t both = cache.Stats().bytes;
  cache.Drop(1, 50);
  CHECK(cache.Stats().bytes * 2 == both);
  CHECK(cache.Find(1, 7) == nullptr);
  CHECK(cache.Find(2, 7) != nullptr);
}

TEST_CASE("a block that a reader holds stays valid after its eviction") {
  BlockCache cache(64 << 10);
  cache.Insert(1, 0, std::make_shared<const Bytes>(1000, 'h'), false);
  const auto held = cache.Find(1, 0);
  REQUIRE(held != nullptr);
  for (size_t i = 0; i < 1000; ++i) {
    Hit(cache, 2, i);
    Hit(cache, 2, i);
  }
  CHECK(cache.Find(1, 0) == nullptr);
  CHECK(*held == Bytes(1000, 'h'));
}

TEST_CASE("threads that read, scan and drop concurrently get the requested blocks") {
  constexpr uint64_t kFiles = 4;
  constexpr size_t kBlocks = 200;
  BlockCache cache(32 << 20);  // large enough to have several shards
  BlockCache small(300 << 10);
  const auto content = [](uint64_t file, size_t block) {
    return Bytes(500 + block * 7, static_cast<char>('a' + file));
  };
  const auto work = [&](uint64_t seed) {
    for (size_t i = 0; i < 20'000; ++i) {
      const uint64_t file = (i + seed) % kFiles;
      const size_t block = i * 31 * (seed + 1) % kBlocks;
      for (BlockCache* const from : {&cache, &small}) {
        if (const auto found = from->Find(file, block)) {
          if (*found != content(file, block)) return false;
        } else {
          from->Insert(file, block, std::make_shared<const Bytes>(content(file, block)),
                       seed % 2 == 0);
        }
      }
      if (i % 5000 == 4999) small.Drop(file, kBlocks);
    }
    return true;
  };
  std::array<bool, 4> right{};
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < right.size(); ++t) {
      threads.emplace_back([&, t] { right[t] = work(t); });
    }
  }
  CHECK(right == std::array<bool, 4>{true, true, true, true});
  CHECK(cache.Stats().evicted == 0);
  CHECK(cache.Stats().hits > 70'000);
  CHECK(small.Stats().bytes <= 300 << 10);
}

}  // namespace
}  // namespace hg::lsm
