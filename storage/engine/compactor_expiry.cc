#include <algorithm>
#include <cmath>

#include "storage/engine/compactor.h"

namespace hg::engine {
namespace {

// Computes the time before which everything in the table has expired. Returns false if a family
// never expires, or keeps a minimum number of versions.
bool OldestSeenOf(const Table& table, int64_t now_ms, int64_t* oldest_ms) {
  *oldest_ms = now_ms;
  for (const FamilyDescriptor& family : table.descriptor.families) {
    if (family.ttl_s == kTtlForever || family.min_versions > 0) return false;
    *oldest_ms = std::min(*oldest_ms, OldestSeenMs(family, now_ms));
  }
  return true;
}

// Returns the parts that can be removed whole: everything in them has expired, and no older
// remaining part may hold the same rows. Otherwise, data that they replaced or deleted would
// reappear if the TTL grew.
Parts ExpiredOf(const Table& table, const Parts& parts, int64_t oldest_ms) {
  Parts expired;
  std::vector<lsm::TimeSpan> older;  // times of the older parts that stay
  for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
    const lsm::TimeSpan times = (*it)->times();
    const auto meets = [&](const lsm::TimeSpan& other) {
      // A row of a points table lies within one hour. Other rows may have any times.
      return table.points_family < 0 || !other.known() || other.Meets(times);
    };
    if (times.known() && times.max_ms < oldest_ms &&
        std::none_of(older.begin(), older.end(), meets)) {
      expired.push_back(*it);
    } else {
      older.push_back(times);
    }
  }
  return expired;
}

}  // namespace

uint64_t Compactor::ExpiredBytes(const Part& part, int64_t now_ms) const {
  constexpr double kHourMs = kRowSpan * 1000.0;
  const Table* const table = tables_.points();
  int64_t oldest_ms;
  const lsm::TimeSpan times = part.times();
  if (table == nullptr || part.entry().table != table->id || !times.known() ||
      !OldestSeenOf(*table, now_ms, &oldest_ms) || oldest_ms <= times.min_ms) {
    return 0;
  }
  // Cells may have any timestamp, so differences of times may not fit into an integer.
  const auto hours_since_first = [&](int64_t time_ms) {
    return std::floor((static_cast<double>(time_ms) - static_cast<double>(times.min_ms)) / kHourMs);
  };
  const double hours = hours_since_first(times.max_ms) + 1;
  const double gone = std::min(hours_since_first(oldest_ms), hours);
  return static_cast<uint64_t>(static_cast<double>(part.bytes()) * gone / hours);
}

// Removes expired files without reading their blocks.
Status Compactor::DropExpired() {
  const auto version = file_set_.Pin();
  for (const auto& [place, parts] : version->parts) {
    const Table* const table = tables_.ById(place.first);
    int64_t oldest_ms;
    if (table == nullptr || !OldestSeenOf(*table, env_.clock.NowMs(), &oldest_ms) ||
        ExpiredOf(*table, parts, oldest_ms).empty()) {
      continue;
    }
    const std::vector<RegionPlace> places = {place};
    // Expiry can wait while other work runs in the region.
    {
      MutexLock lock(work_mutex_);
      if (env_.closed() || work_.contains(place)) continue;
      work_[place].held = true;
    }
    const Status status =
        Survive([&, at = place] { return DropExpiredHeld(*table, at, oldest_ms); });
    ReleaseRegions(places);
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status Compactor::DropExpiredHeld(const Table& table, RegionPlace place, int64_t oldest_ms) {
  Edit edit;
  edit.remove = ExpiredOf(table, file_set_.Pin()->PartsOf(place.first, place.second), oldest_ms);
  if (edit.remove.empty()) return {};
  RETURN_IF_ERROR(file_set_.Apply(edit));
  StoreWork work = BeginWork(StoreWork::Kind::kExpiry, table.id);
  work.parts_read = edit.remove.size();
  EndWork(std::move(work));
  return {};
}

}  // namespace hg::engine
