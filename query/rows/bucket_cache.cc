#include "query/rows/bucket_cache.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

// An hour counts as old when kLateMs milliseconds have passed since its end. Late points usually
// arrive seconds or minutes late, and each point for an old hour invalidates the cached buckets of
// the hour.
constexpr int64_t kLateMs = 15 * 60 * 1000;
// Maximum number of hours of a sub-query that uses the cache. More hours would take long, because
// each hour is looked up separately.
constexpr uint32_t kHoursMax = 2000;
// Approximate memory of the lists and tables per hour and per cache key (`shape`).
constexpr int64_t kHourBytes = 160, kShapeBytes = 192;
// kRowBytes: minimum memory of one series in an hour. kShare: one sub-query may hold at most 1 /
// kShare of the cache.
constexpr int64_t kRowBytes = 64;
constexpr int64_t kShare = 4;

}  // namespace

BucketCache::BucketCache(int64_t bytes_max, WatchedPoints& watched, const Clock& clock)
    : bytes_max_(bytes_max), watched_(watched), clock_(clock) {
  stats_.bytes_max = bytes_max;
}

std::shared_ptr<BucketCache> BucketCache::Make(int64_t bytes_max, WatchedPoints& watched,
                                               const Clock& clock) {
  std::shared_ptr<BucketCache> cache(new BucketCache(bytes_max, watched, clock));
  watched.Listen(cache);
  return cache;
}

size_t BucketCache::SlotOf(ByteView metric, uint32_t base) {
  const size_t hash = std::hash<ByteView>()(metric);
  const size_t mixed = hash + base / kRowSpan * size_t{0x9E3779B97F4A7C15};
  return (mixed >> 20) & (kGenerations - 1);
}

uint32_t BucketCache::RaiseHorizon() {
  const int64_t late_s = std::max<int64_t>((clock_.NowMs() - kLateMs) / 1000, 0);
  const auto horizon = static_cast<uint32_t>(std::min<int64_t>(late_s, UINT32_MAX));
  watched_.RaiseHorizon(horizon - horizon % kRowSpan);
  return horizon - horizon % kRowSpan;
}

int64_t BucketCache::BytesOf(const BucketHour& hour) { return hour.bytes() + kHourBytes; }

int64_t BucketCache::share() const { return bytes_max_ / kShare; }

size_t BucketCache::rows_max() const { return static_cast<size_t>(share() / kRowBytes); }

// No change of an hour can be missed. First the horizon is raised above the hours, so that changes
// of them increase their generations. Then the generations are read, and only then the hours are
// scanned.
BucketCache::OldHours BucketCache::Find(const Bytes& shape, ByteView metric, const RowRange& rows) {
  OldHours out;
  const auto end = static_cast<uint32_t>(std::min<uint64_t>(RaiseHorizon(), rows.end));
  if (rows.begin >= end || (end - rows.begin) / kRowSpan > kHoursMax) return out;
  for (uint32_t base = rows.begin; base < end; base += kRowSpan) {
    out.generations.push_back(generations_[SlotOf(metric, base)].load(std::memory_order_acquire));
  }
  uint32_t base = rows.begin;
  ByUse gone;
  std::vector<ByUse::iterator> used;
  {
    std::lock_guard lock(mutex_);
    const auto known = shapes_.find(shape);
    for (; known != shapes_.end() && base < end; base += kRowSpan) {
      const auto hour = known->second.hours.find(base);
      if (hour == known->second.hours.end()) break;
      const ByUse::iterator kept = hour->second;
      if (kept->generation != out.generations[(base - rows.begin) / kRowSpan]) {
        ++stats_.stale;
        Erase(kept, &gone);  // if this is the last hour of the cache key, also removes the key
        break;
      }
      used.push_back(kept);
      out.found.push_back(kept->hour);
    }
    // A later hour is useful only if the first one is cached, too. So the hours are moved in
    // reverse order, and the last one is evicted first.
    for (auto kept = used.rbegin(); kept != used.rend(); ++kept)
      by_use_.splice(by_use_.end(), by_use_, *kept);
    stats_.hits += out.found.size();
    stats_.misses += (end - base) / kRowSpan;
  }
  out.missing = {base, end};
  out.generations.erase(out.generations.begin(),
                        out.generations.begin() + static_cast<ptrdiff_t>(out.found.size()));
  return out;
}

void BucketCache::Keep(const Bytes& shape, std::vector<NewHour> hours) {
  const int64_t shape_bytes = 2 * static_cast<int64_t>(shape.size()) + kShapeBytes;
  // The list nodes are allocated here and spliced later, so nothing is allocated after the tables
  // have changed.
  ByUse added, gone;
  for (NewHour& one : hours) {
    one.hour.ShrinkToFit();
    const int64_t bytes = BytesOf(one.hour);
    if (bytes + shape_bytes > bytes_max_ / kShare) continue;
    added.push_front(
        {nullptr, one.generation, bytes, std::make_shared<const BucketHour>(std::move(one.hour))});
  }
  if (added.empty()) return;
  std::lock_guard lock(mutex_);
  const auto [known, first] = shapes_.try_emplace(shape);
  Shape* const place = &known->second;
  if (first) {
    place->name = &known->first;
    place->bytes = shape_bytes;
    stats_.bytes += shape_bytes;
  }
  try {
    while (!added.empty()) {
      const ByUse::iterator newest = added.begin();
      const auto [at, fresh] = place->hours.try_emplace(newest->hour->base(), newest);
      newest->shape = place;
      stats_.bytes += newest->bytes;
      by_use_.splice(by_use_.end(), added, newest);
      if (fresh) {
        ++stats_.hours;
        continue;
      }
      const ByUse::iterator other = std::exchange(at->second, newest);
      stats_.bytes -= other->bytes;
      gone.splice(gone.end(), by_use_, other);
    }
  } catch (...) {
    if (place->hours.empty()) {
      stats_.bytes -= shape_bytes;
      shapes_.erase(known);
    }
    throw;
  }
  while (stats_.bytes > bytes_max_ && by_use_.size() > 1) {
    ++stats_.evicted;
    Erase(by_use_.begin(), &gone);
  }
}

void BucketCache::Erase(ByUse::iterator kept, ByUse* gone) {
  Shape* const shape = kept->shape;
  stats_.bytes -= kept->bytes;
  --stats_.hours;
  shape->hours.erase(kept->hour->base());
  gone->splice(gone->end(), by_use_, kept);
  if (!shape->hours.empty()) return;
  stats_.bytes -= shape->bytes;
  shapes_.erase(shapes_.find(*shape->name));
}

// Two shapes may have the same hash. This affects only the running time, not the results.
void BucketCache::PreferHours(const Bytes& shape) {
  const size_t hash = std::hash<Bytes>()(shape);
  preferred_[hash % preferred_.size()].store(hash, std::memory_order_relaxed);
}

bool BucketCache::prefers_hours(const Bytes& shape) const {
  const size_t hash = std::hash<Bytes>()(shape);
  return preferred_[hash % preferred_.size()].load(std::memory_order_relaxed) == hash;
}

void BucketCache::AfterChange(const ChangedRows& rows) {
  generations_[SlotOf(rows.metric, rows.base)].fetch_add(1, std::memory_order_acq_rel);
}

void BucketCache::AfterAlteration() {
  for (auto& generation : generations_) generation.fetch_add(1, std::memory_order_acq_rel);
}

BucketCacheStats BucketCache::Stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace hg::query
