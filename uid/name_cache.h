#pragma once
// What one process knows of the names and ids of one kind.

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/bytes.h"

namespace hg::uid {

/// Which directions are kept, and how much of each (tsd.uid.use_mode, tsd.uid.lru.*).
struct NameCacheOptions {
  bool ids = true;     // name → id, which writers need
  bool names = true;   // id → name, which readers need
  size_t ids_max = 0;  // entries; 0 = no limit
  size_t names_max = 0;
};

/// A map that holds at most so many entries (0 = any number) by forgetting those that were not met
/// for long: entries age in two generations, of which the elder is dropped as a whole. One thread
/// at a time where it changes; Find may run beside Find.
template <typename Value>
class AgingMap {
 public:
  explicit AgingMap(size_t max) : half_(max == 0 ? 0 : max / 2 + max % 2) {}

  /// nullptr: unknown. *elder: found in the elder generation; Keep it, lest it be dropped.
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
    old_.erase(it);
    Set(key, std::move(value));
  }
  void Set(std::string_view key, Value value) {
    if (const auto it = old_.find(key); it != old_.end()) old_.erase(it);
    young_.insert_or_assign(std::string(key), std::move(value));
    if (half_ == 0 || young_.size() <= half_) return;
    // The entry that is one too many begins the next generation.
    auto last = young_.find(key);
    std::pair<std::string, Value> entry(last->first, std::move(last->second));
    young_.erase(last);
    old_ = std::move(young_);
    young_ = Map();
    young_.insert(std::move(entry));
  }
  void Erase(std::string_view key) {
    if (const auto it = young_.find(key); it != young_.end()) young_.erase(it);
    if (const auto it = old_.find(key); it != old_.end()) old_.erase(it);
  }
  void Clear() {
    young_.clear();
    old_.clear();
  }
  [[nodiscard]] size_t size() const { return young_.size() + old_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  using Map = boost::unordered_flat_map<std::string, Value, Hash, std::equal_to<>>;

  const size_t half_;
  Map young_, old_;
};

/// Thread-safe; a hit takes one shared lock.
class NameCache {
 public:
  struct Entry {
    Bytes id;
    bool shares_id = false;  // another spelling of the same bytes came first
  };
  struct Counts {
    uint64_t hits = 0, misses = 0, size = 0;
  };

  explicit NameCache(const NameCacheOptions& options)
      : options_(options), ids_(options.ids_max), names_(options.names_max) {}

  bool FindId(ByteView name, Entry* out);
  bool FindName(ByteView id, std::string* out);
  /// Remembers both directions. A spelling met later gets the id, but does not become the id's
  /// name.
  Entry Add(ByteView name, ByteView id) { return Add(name, id, changes()); }
  /// The same of what was read from the store: `changes` is what changes() said before the read. If
  /// a name was renamed, removed or all were forgotten since, what was read may be no longer true:
  /// then nothing is remembered.
  Entry Add(ByteView name, ByteView id, uint64_t changes);
  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  void Rename(ByteView old_name, ByteView new_name, ByteView id);
  void Remove(ByteView name, ByteView id);
  void Clear();
  [[nodiscard]] Counts Count() const;

 private:
  template <typename Value>
  bool Find(AgingMap<Value>& map, ByteView key, Value* out);

  const NameCacheOptions options_;
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
  std::atomic<uint64_t> changes_{0};  // written with mutex_ held
  mutable std::shared_mutex mutex_;
  AgingMap<Entry> ids_;          // guarded by mutex_
  AgingMap<std::string> names_;  // guarded by mutex_
};

}  // namespace hg::uid
