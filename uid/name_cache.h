#pragma once
// A cache of the names and ids of one kind; the kinds are metrics, tag keys and tag values.

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/bytes.h"
#include "storage/base/keyed_hash.h"

namespace hg::uid {

/// The mappings that the cache stores (name → id, id → name), and their maximum sizes
/// (tsd.uid.use_mode, tsd.uid.lru.*).
struct NameCacheOptions {
  bool ids = true;     // whether the cache stores name → id, which writers need
  bool names = true;   // whether the cache stores id → name, which readers need
  size_t ids_max = 0;  // maximum number of entries of the mapping name → id; 0 = no limit
  size_t names_max = 0;
  /// The maximum memory of both mappings together, in bytes; 0 = no limit. If it is exceeded, the
  /// names that were not used recently are evicted.
  uint64_t bytes_max = 0;
  /// If this counter is not null, the cache adds the number of bytes that it uses to the counter,
  /// and subtracts them when it frees memory. Several caches may share one counter.
  std::shared_ptr<std::atomic<uint64_t>> charged = nullptr;
};

/// Returns the heap memory of a std::string with this length in bytes, including the overhead of
/// malloc. Short strings use no heap memory.
constexpr uint64_t HeapBytesOf(size_t length) {
  constexpr size_t kInPlace = 15, kMalloc = 16;
  return length <= kInPlace ? 0 : length + kMalloc;
}

/// A map that evicts entries that were not used recently. `max` is the maximum number of entries; 0
/// = no limit. The entries are divided into a younger and an older generation. When the younger
/// generation is full, the older generation is dropped, and the younger generation becomes the
/// older one. Dropped entries stay in memory until TakeEvicted returns them, so call TakeEvicted
/// after each call that may drop entries. `heap_bytes` returns the heap memory of a value in bytes.
/// Concurrent calls of Find are safe; all other calls need exclusive access.
template <typename Value, uint64_t (*heap_bytes)(const Value&)>
class AgingMap {
 public:
  // The hash has a secret key, because clients choose the names.
  using Map = boost::unordered_flat_map<std::string, Value, keyed_hash::Hash, std::equal_to<>>;

  explicit AgingMap(size_t max) : half_(max == 0 ? 0 : max / 2 + max % 2) {}

  /// Returns the value of the key, or nullptr if the key is unknown. Sets `*elder` to whether the
  /// entry is in the older generation. If `*elder` is true, the caller must call Keep with this
  /// key, because the older generation is dropped next.
  [[nodiscard]] const Value* Find(std::string_view key, bool* elder) const {
    *elder = false;
    if (const auto it = young_.find(key); it != young_.end()) return &it->second;
    const auto it = old_.find(key);
    *elder = it != old_.end();
    return *elder ? &it->second : nullptr;
  }
  void Keep(std::string_view key) {
    const auto it = old_.find(key);
    if (it == old_.end()) return;
    Value value = std::move(it->second);
    old_bytes_ -= BytesOf(it->first, value);
    old_.erase(it);
    Set(key, std::move(value));
  }
  void Set(std::string_view key, Value value) {
    Erase(key);
    const uint64_t bytes = BytesOf(key, value);
    // If the younger generation is full, it becomes the older one, and the new entry is the first
    // of a new generation.
    if (half_ != 0 && young_.size() == half_) Age();
    young_.insert_or_assign(std::string(key), std::move(value));
    young_bytes_ += bytes;
  }
  /// Evicts the older generation. The younger generation becomes the older generation.
  void Age() {
    evicted_[1] = std::exchange(evicted_[0], std::exchange(old_, std::exchange(young_, Map())));
    old_bytes_ = std::exchange(young_bytes_, 0);
  }
  /// Returns the generations that the last two calls of Age evicted. Freeing many entries takes
  /// long, so the caller can release its lock first.
  [[nodiscard]] std::array<Map, 2> TakeEvicted() {
    return {std::exchange(evicted_[0], Map()), std::exchange(evicted_[1], Map())};
  }
  void Erase(std::string_view key) {
    EraseFrom(&young_, &young_bytes_, key);
    EraseFrom(&old_, &old_bytes_, key);
  }
  [[nodiscard]] size_t size() const { return young_.size() + old_.size(); }
  /// bytes() returns the approximate memory of all entries in bytes. young_bytes() returns the
  /// memory of the entries in the younger generation.
  [[nodiscard]] uint64_t bytes() const { return young_bytes_ + old_bytes_; }
  [[nodiscard]] uint64_t young_bytes() const { return young_bytes_; }

 private:
  static uint64_t BytesOf(std::string_view key, const Value& value) {
    // A flat map has free slots: on average, two thirds of its slots are in use.
    constexpr uint64_t kPlaceBytes = (sizeof(std::pair<std::string, Value>) + 1) * 3 / 2;
    return kPlaceBytes + HeapBytesOf(key.size()) + heap_bytes(value);
  }
  static void EraseFrom(Map* map, uint64_t* bytes, std::string_view key) {
    const auto it = map->find(key);
    if (it == map->end()) return;
    *bytes -= BytesOf(it->first, it->second);
    map->erase(it);
  }

  const size_t half_;
  Map young_, old_;
  std::array<Map, 2> evicted_;  // not yet returned by TakeEvicted
  uint64_t young_bytes_ = 0, old_bytes_ = 0;
};

/// The cache of the names and ids of one kind. Thread-safe. Looking up a cached name takes one
/// shared lock.
class NameCache {
 public:
  struct Entry {
    Bytes id;
    // Whether another name with the same id was cached before this one. Two names share an id if
    // they have the same bytes in ISO-8859-1.
    bool shares_id = false;
    uint32_t changes = 0;  // the lowest bits of changes() when the name was cached
  };
  /// The maximum number of ids of which the cache remembers that their aliases were forgotten.
  static constexpr size_t kAliasesForgottenMax = 10'000;

  struct Counts {
    uint64_t hits = 0, misses = 0, size = 0;
  };

  explicit NameCache(const NameCacheOptions& options)
      : options_(options), ids_(options.ids_max), names_(options.names_max) {}
  ~NameCache() { Clear(); }
  NameCache(const NameCache&) = delete;
  NameCache& operator=(const NameCache&) = delete;

  bool FindId(ByteView name, Entry* out);
  bool FindName(ByteView id, std::string* out);
  /// Adds the mappings from name to id and from id to name. If the cache already has a name for the
  /// id, that older name stays the name of the id. `changes` is the value that changes() had before
  /// the name was read from the store or written to it. If changes() now has another value, names
  /// were renamed or removed, or the cache was cleared. In this case, the name may be outdated, and
  /// Add does not cache it.
  Entry Add(ByteView name, ByteView id, uint64_t changes);
  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  /// Rename and Remove forget the old name of the id. If `has_aliases` is true, they forget all
  /// names of the id that were cached before. If they forgot the names of more than
  /// kAliasesForgottenMax ids, or if memory runs out, they forget the ids of all names.
  void Rename(ByteView old_name, ByteView new_name, ByteView id, bool has_aliases);
  void Remove(ByteView name, ByteView id, bool has_aliases);
  void Clear();
  [[nodiscard]] Counts Count() const;

  /// Returns the approximate memory of a cached name with this length, in bytes, in both mappings
  /// together.
  static uint64_t BytesOf(size_t name_length);

 private:
  static uint64_t HeapBytes(const Entry& entry) { return HeapBytesOf(entry.id.size()); }
  static uint64_t TextHeapBytes(const std::string& name) { return HeapBytesOf(name.size()); }
  using Ids = AgingMap<Entry, HeapBytes>;
  using NamesOfIds = AgingMap<std::string, TextHeapBytes>;

  /// Holds mutex_ exclusively. The destructor frees evicted entries after it has released mutex_,
  /// because event loops wait for mutex_.
  class ExclusiveLock;

  template <typename Map, typename Value>
  bool Find(Map& map, ByteView key, Value* out);
  // Callers must hold mutex_. Returns false if the name was cached before the aliases of its id
  // were forgotten.
  [[nodiscard]] bool IsValid(const Entry& entry) const;
  [[nodiscard]] static bool IsValid(const std::string&) { return true; }
  // Callers of the following functions must hold mutex_ exclusively.
  void ForgetAliases(ByteView id, uint32_t change);
  void Change(ByteView name, ByteView id, bool has_aliases);
  void KeepWithinBytesMax();
  void CountBytes();

  const NameCacheOptions options_;
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
  /// The number of calls of Rename, Remove and Clear. Changed while mutex_ is held.
  std::atomic<uint64_t> changes_{0};
  mutable std::shared_mutex mutex_;
  Ids ids_;           // guarded by mutex_
  NamesOfIds names_;  // guarded by mutex_
  /// For each id whose aliases were forgotten, the lowest bits of changes() at that time. Names of
  /// the id that were cached before are not found. A search for the names of an id would visit all
  /// names. Guarded by mutex_.
  std::map<Bytes, uint32_t> aliases_forgotten_;
  // The number of bytes that this cache has added to options_.charged. Guarded by mutex_.
  uint64_t counted_ = 0;
};

}  // namespace hg::uid
