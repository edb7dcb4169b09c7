#include "uid/name_cache.h"

#include <mutex>

namespace hg::uid {

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
    found = value != nullptr;
    if (found) *out = *value;
  }
  (found ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  if (elder) {
    std::unique_lock lock(mutex_);
    map.Keep(key);
  }
  return found;
}

bool NameCache::FindId(ByteView name, Entry* out) { return Find(ids_, name, out); }
bool NameCache::FindName(ByteView id, std::string* out) { return Find(names_, id, out); }

NameCache::Entry NameCache::AddLocked(ByteView name, ByteView id, bool remember) {
  bool elder = false;
  const std::string* known = names_.Find(id, &elder);
  Entry entry{Bytes(id), known != nullptr && *known != name};
  if (!remember) return entry;
  if (options_.names && known == nullptr) names_.Set(id, std::string(name));
  if (options_.ids) ids_.Set(name, entry);
  return entry;
}

NameCache::Entry NameCache::Add(ByteView name, ByteView id) {
  std::unique_lock lock(mutex_);
  Entry entry = AddLocked(name, id, true);
  KeepWithinBytesMax();
  CountBytes();
  return entry;
}

NameCache::Entry NameCache::AddRead(ByteView name, ByteView id, uint64_t changes) {
  std::unique_lock lock(mutex_);
  Entry entry = AddLocked(name, id, changes == changes_.load(std::memory_order_relaxed));
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

void NameCache::Rename(ByteView old_name, ByteView new_name, ByteView id) {
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  // Outdated entries are erased first, because the insertions may run out of memory.
  ids_.Erase(old_name);
  names_.Erase(id);
  if (options_.ids) ids_.Set(new_name, Entry{Bytes(id)});
  if (options_.names) names_.Set(id, std::string(new_name));
  CountBytes();
}

void NameCache::Remove(ByteView name, ByteView id) {
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  ids_.Erase(name);
  names_.Erase(id);
  CountBytes();
}

void NameCache::EraseAliases(ByteView id) {
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  bool elder = false;
  const std::string* const name = names_.Find(id, &elder);
  ids_.EraseIf([&](const std::string& alias, const Entry& entry) {
    return entry.id == id && (name == nullptr || alias != *name);
  });
  CountBytes();
}

void NameCache::Clear() {
  // Declared before the lock, so that the entries are freed after the lock is released.
  std::array<decltype(ids_)::Map, 2> ids;
  std::array<decltype(names_)::Map, 2> names;
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  ids = ids_.TakeAll();
  names = names_.TakeAll();
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
