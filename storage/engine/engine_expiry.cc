#include <algorithm>

#include "storage/engine/engine.h"

namespace hg::points {
namespace {

// Before this moment nothing of the table is seen; false: some family keeps it.
bool OldestSeenOf(const Table& table, int64_t now_ms, int64_t* oldest_ms) {
  *oldest_ms = now_ms;
  for (const FamilyDescriptor& family : table.descriptor.families) {
    if (family.ttl_s == kTtlForever || family.min_versions > 0) return false;
    *oldest_ms = std::min(*oldest_ms, OldestSeenMs(family, now_ms));
  }
  return true;
}

// Which runs can go whole: everything in them has expired, and what older runs hold of their rows
// goes with them, so that nothing which they replaced or deleted comes back should the TTL grow.
Runs ExpiredOf(const Table& table, const Runs& runs, int64_t oldest_ms) {
  Runs expired;
  std::vector<lsm::TimeSpan> older;  // of those that stay
  for (auto it = runs.rbegin(); it != runs.rend(); ++it) {
    const lsm::TimeSpan times = (*it)->times();
    const auto meets = [&](const lsm::TimeSpan& other) {
      // A row of series is of one hour; of other rows nobody knows.
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

uint64_t Engine::ExpiredBytes(const Run& run, int64_t now_ms) const {
  constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;
  const Table* const table = points_table();
  int64_t oldest_ms;
  const lsm::TimeSpan times = run.times();
  if (table == nullptr || run.entry().table != table->id || !times.known() ||
      !OldestSeenOf(*table, now_ms, &oldest_ms) || oldest_ms <= times.min_ms) {
    return 0;
  }
  const int64_t hours = (times.max_ms - times.min_ms) / kHourMs + 1;
  const int64_t gone = std::min((oldest_ms - times.min_ms) / kHourMs, hours);
  return static_cast<uint64_t>(static_cast<double>(run.bytes()) * static_cast<double>(gone) /
                               static_cast<double>(hours));
}

// No block of what goes is read.
Status Engine::DropExpired() {
  const auto version = Pin();
  for (const auto& [place, runs] : version->runs) {
    const Table* const table = TableById(place.first);
    int64_t oldest_ms;
    if (table == nullptr || !OldestSeenOf(*table, clock_.NowMs(), &oldest_ms) ||
        ExpiredOf(*table, runs, oldest_ms).empty()) {
      continue;
    }
    const std::vector<RegionPlace> places = {place};
    // Where somebody is at work it can wait.
    {
      std::lock_guard lock(work_mutex_);
      if (closed_ || work_.contains(place)) continue;
      work_[place].held = true;
    }
    const Status status =
        Survive([&, at = place] { return DropExpiredHeld(*table, at, oldest_ms); });
    ReleaseRegions(places);
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status Engine::DropExpiredHeld(const Table& table, RegionPlace place, int64_t oldest_ms) {
  std::lock_guard maintenance(maintenance_);
  auto version = std::make_shared<Version>(*Pin());
  const auto found = version->runs.find(place);
  if (found == version->runs.end()) return {};
  const Runs expired = ExpiredOf(table, found->second, oldest_ms);
  std::erase_if(found->second, [&](const auto& run) {
    return std::find(expired.begin(), expired.end(), run) != expired.end();
  });
  lsm::Manifest manifest = manifest_;
  RemoveEntries(place, expired, &manifest);
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(version)));
  RetireUnnamed(expired);
  StoreWork work = BeginWork(StoreWork::Kind::kExpiry, table.id);
  work.runs_read = expired.size();
  EndWork(std::move(work));
  return {};
}

}  // namespace hg::points
