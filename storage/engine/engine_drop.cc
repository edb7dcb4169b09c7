// Whole files all of whose rows may go (Points::DropFiles): unread, as those that have expired.

#include <algorithm>

#include "storage/engine/engine.h"

namespace hg::points {
namespace {

bool IsWholeBefore(const Run& run, uint32_t end) {
  const region::RowSpan& rows = run.rows();
  return !rows.loose && rows.has_rows() && rows.last_base < end;
}

// What older runs hold of their rows goes with them, so that nothing which they replaced or deleted
// comes back.
Runs WholeBefore(const Runs& runs, uint32_t end, const std::set<uint64_t>& merging) {
  Runs whole;
  std::vector<region::RowSpan> older;  // of those that stay
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const region::RowSpan& rows = (*run)->rows();
    const auto meets = [&](const region::RowSpan& other) { return other.Meets(rows); };
    if (IsWholeBefore(**run, end) && !merging.contains((*run)->entry().number) &&
        std::none_of(older.begin(), older.end(), meets)) {
      whole.push_back(*run);
    } else {
      older.push_back(rows);
    }
  }
  return whole;
}

}  // namespace

Status Engine::DropFiles(const EndOfRows& end_of) {
  MetricEnds ends;
  uint32_t latest = 0;
  for (const Bytes& metric : registry_.Metrics()) {
    const uint32_t end = end_of(metric);
    ends.emplace(metric, end);
    latest = std::max(latest, end);
  }
  const auto version = Pin();
  for (const auto& [place, runs] : version->runs) {
    const auto may_go = [&](const auto& run) { return IsWholeBefore(*run, latest); };
    if (!HasPoints(place) || std::none_of(runs.begin(), runs.end(), may_go)) continue;
    // Whoever let rows go may have written something about it first, which must not be lost alone.
    RETURN_IF_ERROR(Sync());
    // Merges of other runs go on: to wait for them may take long.
    {
      std::lock_guard lock(work_mutex_);
      RETURN_IF_ERROR(CheckOpen());
      RegionWork& work = work_[place];
      if (work.held) continue;
      work.held = true;
    }
    const Status status = Survive([&, at = place] { return DropFilesHeld(at, ends); });
    {
      std::lock_guard lock(work_mutex_);
      const auto work = work_.find(place);
      work->second.held = false;
      if (work->second.merging.empty()) work_.erase(work);
      work_done_.notify_all();
    }
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status Engine::DropFilesHeld(RegionPlace place, const MetricEnds& ends) {
  std::unique_lock maintenance(maintenance_);
  auto version = std::make_shared<Version>(*Pin());
  const auto index = version->RegionsOf(place.first).IndexOfId(place.second);
  const auto found = version->runs.find(place);
  if (!index || found == version->runs.end()) return {};  // divided or joined meanwhile
  std::set<uint64_t> merging;
  {
    std::lock_guard lock(work_mutex_);
    merging = work_[place].merging;
  }
  const uint32_t end = EndIn(version->RegionsOf(place.first), *index, ends);
  const Runs gone = WholeBefore(found->second, end, merging);
  if (gone.empty()) return {};
  std::erase_if(found->second, [&](const auto& run) {
    return std::find(gone.begin(), gone.end(), run) != gone.end();
  });
  lsm::Manifest manifest = manifest_;
  RemoveEntries(place, gone, &manifest);
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(version)));
  RetireUnnamed(gone);
  dropped_runs_ += gone.size();
  maintenance.unlock();
  listeners_.AfterAlteration();
  StoreWork work = BeginWork(StoreWork::Kind::kDrop, place.first);
  work.runs_read = gone.size();
  EndWork(std::move(work));
  return {};
}

// Whatever series a region's files have rows of, the registry has their metrics; those that are new
// since `ends` were asked for keep all.
uint32_t Engine::EndIn(const region::RegionMap& regions, size_t region,
                       const MetricEnds& ends) const {
  const Bytes salt = SaltOf(regions.Start(region));
  std::optional<uint32_t> least;
  for (const Bytes& metric : registry_.Metrics()) {
    const RowRange bases = region::BasesIn(regions, region, salt + metric);
    if (bases.begin >= bases.end) continue;
    const auto end = ends.find(metric);
    least = std::min(least.value_or(UINT32_MAX), end != ends.end() ? end->second : 0);
  }
  return least.value_or(0);
}

}  // namespace hg::points
