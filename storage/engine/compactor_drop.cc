// Removes files whose rows may all be deleted, without reading these files (Points::DropFiles).

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/engine/compactor.h"

namespace hg::engine {
namespace {

bool IsWholeBefore(const Part& part, uint32_t end) {
  const region::RowSpan& rows = part.rows();
  return !rows.loose && rows.has_rows() && rows.last_base < end;
}

// A part may go only if no older remaining part may hold the same rows. Otherwise, data that the
// part replaced or deleted would reappear.
Parts WholeBefore(const Parts& parts, uint32_t end, const std::set<uint64_t>& merging) {
  Parts whole;
  std::vector<region::RowSpan> older;  // rows of the older parts that stay
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const region::RowSpan& rows = (*part)->rows();
    const auto meets = [&](const region::RowSpan& other) { return other.Meets(rows); };
    if (IsWholeBefore(**part, end) && !merging.contains((*part)->entry().number) &&
        std::none_of(older.begin(), older.end(), meets)) {
      whole.push_back(*part);
    } else {
      older.push_back(rows);
    }
  }
  return whole;
}

}  // namespace

Status Compactor::DropFiles(const EndOfRows& end_of) {
  MetricEnds ends;
  uint32_t latest = 0;
  for (const Bytes& metric : registry_.Metrics()) {
    const uint32_t end = end_of(metric);
    ends.emplace(metric, end);
    latest = std::max(latest, end);
  }
  const auto version = file_set_.Pin();
  for (const auto& [place, parts] : version->parts) {
    const auto may_go = [&](const auto& part) { return IsWholeBefore(*part, latest); };
    if (!tables_.IsPoints(place.first) || std::none_of(parts.begin(), parts.end(), may_go))
      continue;
    // The caller may have written a record that justifies the removal. That record must be durable
    // before the rows are removed.
    RETURN_IF_ERROR(memstore_.Sync());
    // Merges of other parts may take long, so this function does not wait for them.
    {
      MutexLock lock(work_mutex_);
      RETURN_IF_ERROR(env_.CheckOpen());
      RegionWork& work = work_[place];
      if (work.held) continue;
      work.held = true;
    }
    const Status status = Survive([&, at = place] { return DropFilesHeld(at, ends); });
    {
      MutexLock lock(work_mutex_);
      const auto work = work_.find(place);
      INVARIANT(work != work_.end() && work->second.held);
      work->second.held = false;
      if (work->second.merging.empty()) work_.erase(work);
      work_done_.NotifyAll();
    }
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status Compactor::DropFilesHeld(RegionPlace place, const MetricEnds& ends) {
  // Parts in `merging` are not dropped. `merging` is read before the version is pinned. A merge
  // that ends in between has already replaced its parts in the pinned version. A merge that ends
  // later replaces only parts in `merging`.
  std::set<uint64_t> merging;
  {
    MutexLock lock(work_mutex_);
    merging = work_[place].merging;
  }
  const auto version = file_set_.Pin();
  const auto index = version->RegionsOf(place.first).IndexOfId(place.second);
  if (!index) return {};  // split or merged with another region meanwhile
  const uint32_t end = EndIn(version->RegionsOf(place.first), *index, ends);
  Edit edit;
  edit.remove = WholeBefore(version->PartsOf(place.first, place.second), end, merging);
  if (edit.remove.empty()) return {};
  edit.drops_rows = true;
  RETURN_IF_ERROR(file_set_.Apply(edit));
  listeners_.AfterAlteration();
  StoreWork work = BeginWork(StoreWork::Kind::kDrop, place.first);
  work.parts_read = edit.remove.size();
  EndWork(std::move(work));
  return {};
}

// The registry has the metrics of all rows in the region's files. Rows of a metric that was added
// after `ends` was computed must stay, so for such a metric the result is 0.
uint32_t Compactor::EndIn(const region::RegionMap& regions, size_t region,
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

}  // namespace hg::engine
