#pragma once
// A cache of verified and decompressed blocks of files (region-store.md F3, like HBase's
// LruBlockCache). A new block belongs to the class `single`. When the block is read again, it moves
// to the class `multi`. Blocks of families with IN_MEMORY form the third class. Each class has a
// share of the capacity, and blocks are evicted from classes that exceed their share. Therefore a
// long scan fills the class `single` but cannot evict blocks that are read repeatedly.

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::lsm {

struct BlockCacheStats {
  uint64_t bytes = 0;  // memory of the blocks, including the overhead of the cache
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evicted = 0;  // number of evicted blocks
};

/// A cache of blocks. Thread-safe. The cache is divided into shards. Each shard has a lock, which a
/// thread holds only to find, insert or remove a block, and not while it reads the disk or
/// decompresses. Therefore readers of different blocks rarely wait for each other.
class BlockCache {
 public:
  /// `capacity_bytes` is the maximum memory of the cache. 0 means that the cache stores no blocks.
  explicit BlockCache(uint64_t capacity_bytes);

  /// Returns a new number, which identifies a file in the cache. Numbers are never reused.
  uint64_t NewFile() { return next_file_.fetch_add(1, std::memory_order_relaxed); }

  /// Returns the block, or null if the block is not cached.
  std::shared_ptr<const Bytes> Find(uint64_t file, size_t block);
  /// Adds the block unless it is cached or very large, and evicts other blocks if necessary.
  void Insert(uint64_t file, size_t block, std::shared_ptr<const Bytes> bytes, bool in_memory);
  /// Removes the blocks of a file that have numbers below `blocks`.
  void Drop(uint64_t file, size_t blocks);

  [[nodiscard]] BlockCacheStats Stats() const;

 private:
  enum Class : uint8_t { kSingle, kMulti, kInMemory, kClasses };
  struct Key {
    uint64_t file;
    uint64_t block;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    Key key;
    Class of;
    std::shared_ptr<const Bytes> bytes;
  };
  using Entries = std::list<Entry>;  // most recently used entry first
  struct Shard {
    mutable std::mutex mutex;
    // The following members are guarded by mutex.
    std::array<Entries, kClasses> entries;
    std::array<uint64_t, kClasses> bytes{};
    std::unordered_map<Key, Entries::iterator, HashKey> found;
  };

  Shard& ShardOf(const Key& key) { return shards_[(HashKey()(key) >> 32) % shards_.size()]; }
  // Callers of Evict and Remove must hold the lock of the shard. Evict and Remove move removed
  // entries to `gone`, which the caller frees after it has released the lock.
  void Evict(Shard& shard, Entries* gone);
  static void Remove(Shard& shard, Entries::iterator entry, Entries* gone);

  std::vector<Shard> shards_;
  const uint64_t shard_capacity_;
  std::atomic<uint64_t> next_file_{1};
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
  std::atomic<uint64_t> evicted_{0};
};

}  // namespace hg::lsm
