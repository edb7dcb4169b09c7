#include "uid/name_cache.h"

#include <mutex>
#include <new>

namespace hg::uid {

class NameCache::ExclusiveLock {
 public:
  explicit ExclusiveLock(NameCache& cache) : cache_(cache), lock_(cache.mutex_) {}
  ExclusiveLock(const ExclusiveLock&) = delete;
  ExclusiveLock& operator=(const ExclusiveLock&) = delete;
  ~ExclusiveLock() {
    const auto ids = cache_.ids_.TakeEvicted();
    const auto names = cache_.names_.TakeEvicted();
    lock_.unlock();
  }

 private:
  NameCache& cache_;
  std::unique_lock<std::shared_mutex> lock_;
};

uint64_t NameCache::BytesOf(size_t name_length) {
  constexpr uint64_t kPlaces = 256;  // bytes of a name's places in both maps
  return kPlaces + 2 * HeapBytesOf(name_length);
}

template <typename Map, typename Value>
bool NameCache::Find(Map& map, ByteView key, Value* out) {
  bool elder = false;
  bool found = false;
  {
    std::shared_lock lock(mutex_);
    const Value* value = map.Find(key, &elder);
    found = value != nullptr && IsValid(*value);
    if (found) *out = *value;
  }
  (found ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  if (elder) {
    const ExclusiveLock lock(*this);
    map.Keep(key);
  }
  return found;
}

bool NameCache::FindId(ByteView name, Entry* out) { return Find(ids_, name, out); }
bool NameCache::FindName(ByteView id, std::string* out) { return Find(names_, id, out); }

bool NameCache::IsValid(const Entry& entry) const {
  if (aliases_forgotten_.empty()) return true;
  const auto forgotten = aliases_forgotten_.find(entry.id);
  // The lowest bits of changes() may have wrapped around between the two changes.
  return forgotten == aliases_forgotten_.end() ||
         static_cast<int32_t>(entry.changes - forgotten->second) >= 0;
}

NameCache::Entry NameCache::Add(ByteView name, ByteView id, uint64_t changes) {
  const ExclusiveLock lock(*this);
  bool elder = false;
  const std::string* known = names_.Find(id, &elder);
  Entry entry{Bytes(id), known != nullptr && *known != name, static_cast<uint32_t>(changes)};
  if (changes != changes_.load(std::memory_order_relaxed)) return entry;
  if (options_.names && known == nullptr) names_.Set(id, std::string(name));
  if (options_.ids) ids_.Set(name, entry);
  KeepWithinBytesMax();
  CountBytes();
  return entry;
}

void NameCache::KeepWithinBytesMax() {
  // Each of the two generations may have half of the bytes.
  if (options_.bytes_max == 0) return;
  if (ids_.young_bytes() + names_.young_bytes() <= options_.bytes_max / 2) return;
  ids_.Age();
  names_.Age();
}

void NameCache::CountBytes() {
  if (options_.charged == nullptr) return;
  const uint64_t bytes = ids_.bytes() + names_.bytes();
  options_.charged->fetch_add(bytes - counted_, std::memory_order_relaxed);  // modulo 2^64
  counted_ = bytes;
}

void NameCache::Change(ByteView name, ByteView id, bool has_aliases) {
  const auto change =
      static_cast<uint32_t>(changes_.fetch_add(1, std::memory_order_release) + uint64_t{1});
  ids_.Erase(name);
  names_.Erase(id);
  if (has_aliases) ForgetAliases(id, change);
}

void NameCache::ForgetAliases(ByteView id, uint32_t change) {
  try {
    aliases_forgotten_[Bytes(id)] = change;
    if (aliases_forgotten_.size() <= kAliasesForgottenMax) return;
  } catch (const std::bad_alloc&) {
    // This entry would have told lookups that older names of the id are outdated. Without the
    // entry, lookups would still find these names, so the names of all ids are evicted.
  }
  for (int generation = 0; generation < 2; ++generation) ids_.Age();
  aliases_forgotten_.clear();
}

void NameCache::Rename(ByteView old_name, ByteView new_name, ByteView id, bool has_aliases) {
  const ExclusiveLock lock(*this);
  // Change erases the outdated entries before the new entries are inserted, because an insertion
  // may run out of memory.
  Change(old_name, id, has_aliases);
  if (options_.ids)
    ids_.Set(new_name, Entry{.id = Bytes(id), .changes = static_cast<uint32_t>(changes())});
  if (options_.names) names_.Set(id, std::string(new_name));
  CountBytes();
}

void NameCache::Remove(ByteView name, ByteView id, bool has_aliases) {
  const ExclusiveLock lock(*this);
  Change(name, id, has_aliases);
  CountBytes();
}

void NameCache::Clear() {
  const ExclusiveLock lock(*this);
  changes_.fetch_add(1, std::memory_order_release);
  for (int generation = 0; generation < 2; ++generation) {
    ids_.Age();
    names_.Age();
  }
  aliases_forgotten_.clear();
  CountBytes();
}

NameCache::Counts NameCache::Count() const {
  Counts counts;
  counts.hits = hits_.load(std::memory_order_relaxed);
  counts.misses = misses_.load(std::memory_order_relaxed);
  std::shared_lock lock(mutex_);
  counts.size = ids_.size() + names_.size();
  return counts;
}

}  // namespace hg::uid
