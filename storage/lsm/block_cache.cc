#include "storage/lsm/block_cache.h"

#include <algorithm>

#include "storage/base/invariant.h"

namespace hg::lsm {
namespace {

// As in HBase's LruBlockCache: the shares of blocks that were used once, of blocks that were used
// more often and of in-memory blocks, and the fill level after an eviction.
constexpr std::array<double, 3> kShares = {0.25, 0.50, 0.25};
constexpr double kAfterEviction = 0.95;
// Maximum bytes of a block that is cached. A larger block would evict too many other blocks.
constexpr size_t kBlockBytesMax = 16 << 20;
// A shard must hold at least tens of blocks. Otherwise, an uneven distribution of hashes would make
// the shard useless.
constexpr uint64_t kShardBytesMin = 4 << 20, kShardsMax = 16;
// Overhead of an entry: list node, map node, control block.
constexpr size_t kEntryBytes = 160;

uint64_t SizeOf(const Bytes& bytes) { return bytes.capacity() + kEntryBytes; }

}  // namespace

size_t BlockCache::HashKey::operator()(const Key& key) const {
  uint64_t h = (key.file * 0x9E3779B97F4A7C15U) ^ key.block;
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U;
  return h ^ h >> 32;
}

BlockCache::BlockCache(uint64_t capacity_bytes)
    : shards_(std::clamp<uint64_t>(capacity_bytes / kShardBytesMin, 1, kShardsMax)),
      shard_capacity_(capacity_bytes / shards_.size()) {}

std::shared_ptr<const Bytes> BlockCache::Find(uint64_t file, size_t block) {
  const Key key{file, block};
  Shard& shard = ShardOf(key);
  {
    std::lock_guard lock(shard.mutex);
    if (const auto it = shard.found.find(key); it != shard.found.end()) {
      const auto entry = it->second;
      const Class before = entry->of;
      if (before == kSingle) {
        const uint64_t size = SizeOf(*entry->bytes);
        INVARIANT(shard.bytes[kSingle] >= size);
        shard.bytes[kSingle] -= size;
        shard.bytes[kMulti] += size;
        entry->of = kMulti;
      }
      Entries& to = shard.entries[entry->of];
      to.splice(to.begin(), shard.entries[before], entry);
      hits_.fetch_add(1, std::memory_order_relaxed);
      return entry->bytes;
    }
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

void BlockCache::Insert(uint64_t file, size_t block, std::shared_ptr<const Bytes> bytes,
                        bool in_memory) {
  const uint64_t size = SizeOf(*bytes);
  if (bytes->size() > kBlockBytesMax || size > shard_capacity_) return;
  const Key key{file, block};
  const Class of = in_memory ? kInMemory : kSingle;
  Entries fresh;
  fresh.push_front({key, of, std::move(bytes)});
  Entries gone;
  Shard& shard = ShardOf(key);
  std::lock_guard lock(shard.mutex);
  if (!shard.found.try_emplace(key, fresh.begin()).second) return;
  shard.entries[of].splice(shard.entries[of].begin(), fresh);
  shard.bytes[of] += size;
  Evict(shard, &gone);
}

void BlockCache::Drop(uint64_t file, size_t blocks) {
  for (size_t block = 0; block < blocks; ++block) {
    const Key key{file, block};
    Entries gone;
    Shard& shard = ShardOf(key);
    std::lock_guard lock(shard.mutex);
    const auto it = shard.found.find(key);
    if (it != shard.found.end()) Remove(shard, it->second, &gone);
  }
}

void BlockCache::Remove(Shard& shard, Entries::iterator entry, Entries* gone) {
  const uint64_t size = SizeOf(*entry->bytes);
  INVARIANT(shard.bytes[entry->of] >= size);
  shard.bytes[entry->of] -= size;
  INVARIANT(shard.found.erase(entry->key) == 1);
  gone->splice(gone->begin(), shard.entries[entry->of], entry);
}

// Evicts blocks of the classes that exceed their shares, beginning with the smallest excess. Each
// class loses about its excess, or an equal part of the bytes to free if that is less. The last
// class loses the rest.
void BlockCache::Evict(Shard& shard, Entries* gone) {
  const uint64_t total = shard.bytes[kSingle] + shard.bytes[kMulti] + shard.bytes[kInMemory];
  if (total <= shard_capacity_) return;
  const auto capacity = static_cast<double>(shard_capacity_);
  auto to_free = static_cast<int64_t>(total) - static_cast<int64_t>(kAfterEviction * capacity);
  std::array<std::pair<int64_t, Class>, kClasses> over;
  for (uint8_t i = 0; i < kClasses; ++i) {
    over[i] = {static_cast<int64_t>(shard.bytes[i]) - static_cast<int64_t>(kShares[i] * capacity),
               static_cast<Class>(i)};
  }
  std::sort(over.begin(), over.end());
  for (size_t i = 0; i < over.size(); ++i) {
    const auto [overflow, of] = over[i];
    if (overflow <= 0) continue;
    const bool last = i + 1 == over.size();
    int64_t mine =
        last ? to_free : std::min(overflow, to_free / static_cast<int64_t>(over.size() - i));
    while (mine > 0 && !shard.entries[of].empty()) {
      const auto oldest = std::prev(shard.entries[of].end());
      const auto size = static_cast<int64_t>(SizeOf(*oldest->bytes));
      Remove(shard, oldest, gone);
      evicted_.fetch_add(1, std::memory_order_relaxed);
      mine -= size;
      to_free -= size;
    }
  }
}

BlockCacheStats BlockCache::Stats() const {
  BlockCacheStats stats;
  for (const Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    for (const uint64_t bytes : shard.bytes) stats.bytes += bytes;
  }
  stats.hits = hits_;
  stats.misses = misses_;
  stats.evicted = evicted_;
  return stats;
}

}  // namespace hg::lsm
