#pragma once
// Blocks of files as readers want them, checked and unpacked, kept while there is room (spec
// region-store.md F3, HBase's LruBlockCache). A block comes in as `single`; when it is asked for
// again it is `multi`; families with IN_MEMORY have a class of their own. Each class has a share,
// and the classes give up blocks by how far each is over its own: a long scan fills `single`, and
// cannot drive out what is asked for again and again.

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
  uint64_t bytes = 0;  // with what keeping them takes
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evicted = 0;  // blocks
};

/// Thread-safe. Divided into shards with a lock each, held for one look-up: readers of different
/// blocks seldom meet, and none waits for the disk or for an unpacking.
class BlockCache {
 public:
  /// Never holds more bytes; 0: nothing is kept.
  explicit BlockCache(uint64_t capacity_bytes);

  /// A number for a file, never given twice.
  uint64_t NewFile() { return next_file_.fetch_add(1, std::memory_order_relaxed); }

  /// Null: it is not there.
  std::shared_ptr<const Bytes> Find(uint64_t file, size_t block);
  /// Keeps the block if it is not there yet, at the cost of others.
  void Insert(uint64_t file, size_t block, std::shared_ptr<const Bytes> bytes, bool in_memory);
  /// Forgets the blocks of a file, which has so many.
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
  using Entries = std::list<Entry>;  // the one used last in front
  struct Shard {
    mutable std::mutex mutex;
    // Guarded by mutex.
    std::array<Entries, kClasses> entries;
    std::array<uint64_t, kClasses> bytes{};
    std::unordered_map<Key, Entries::iterator, HashKey> found;
  };

  Shard& ShardOf(const Key& key) { return shards_[(HashKey()(key) >> 32) % shards_.size()]; }
  // These expect the shard's lock, and move what goes to `gone`: it is freed behind the lock.
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
