#include "uid/name_cache.h"

#include <mutex>

namespace hg::uid {

template <typename Value>
bool NameCache::Find(AgingMap<Value>& map, ByteView key, Value* out) {
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

NameCache::Entry NameCache::Add(ByteView name, ByteView id, uint64_t changes) {
  std::unique_lock lock(mutex_);
  bool elder = false;
  const std::string* known = names_.Find(id, &elder);
  Entry entry{Bytes(id), known != nullptr && *known != name};
  if (changes != changes_.load(std::memory_order_relaxed)) return entry;
  if (options_.names && known == nullptr) names_.Set(id, std::string(name));
  if (options_.ids) ids_.Set(name, entry);
  return entry;
}

void NameCache::Rename(ByteView old_name, ByteView new_name, ByteView id) {
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  // First what is no longer true: memory may be wanting for the rest.
  ids_.Erase(old_name);
  names_.Erase(id);
  if (options_.ids) ids_.Set(new_name, Entry{Bytes(id)});
  if (options_.names) names_.Set(id, std::string(new_name));
}

void NameCache::Remove(ByteView name, ByteView id) {
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  ids_.Erase(name);
  names_.Erase(id);
}

void NameCache::Clear() {
  std::unique_lock lock(mutex_);
  changes_.fetch_add(1, std::memory_order_release);
  ids_.Clear();
  names_.Clear();
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
