#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "storage/base/invariant.h"
#include "storage/engine/compactor.h"
#include "storage/engine/merge_parts.h"
#include "storage/region/window_policy.h"

namespace hg::engine {
namespace {

// Number of bytes that a merge writes between two checks of its write rate.
constexpr uint64_t kPaceBytes = 256 << 10;

template <typename ExpiredBytes>
std::vector<region::PartFacts> FactsOf(const Parts& parts, const std::set<uint64_t>& merging,
                                       const ExpiredBytes& expired_bytes) {
  std::vector<region::PartFacts> facts;
  for (const auto& part : parts) {
    const lsm::PartEntry& entry = part->entry();
    facts.push_back({entry.number, part->bytes(), entry.made_ms, entry.reference, entry.tombstones,
                     merging.contains(entry.number), expired_bytes(*part), part->rows(),
                     entry.rewrites, entry.first_sequence, entry.last_sequence,
                     entry.cells_bytes > 0});
  }
  return facts;
}

region::Picked PlacesOf(const region::Slice& slice) {
  region::Picked places(slice.size());
  std::iota(places.begin(), places.end(), slice.begin);
  return places;
}

uint64_t BytesOf(const Parts& parts) {
  uint64_t bytes = 0;
  for (const auto& part : parts) bytes += part->bytes();
  return bytes;
}

// Returns the number of the output part of a row. Each window has its own part. Rows without a base
// time have another part.
uint64_t RunOf(const region::WindowChoice& windows, std::optional<uint32_t> base) {
  if (!base) return UINT64_MAX;
  const region::Window window = windows.Of(*base);
  return static_cast<uint64_t>(window.level) << 32 | window.index;
}

}  // namespace

Status Compactor::MergePending(MergePool pool) {
  const Status dropped = DropExpired();
  while (!env_.closed()) {
    MergeJob job;
    if (!PickMerge(pool, &job)) break;
    const Status status = Survive([&] { return MergeJobParts(job); });
    EndMerge(job);
    if (!env_.closed()) NoteMerge(job, status);
  }
  return dropped.ok() ? MergeFailure() : dropped;
}

// Picks the most urgent merge. Merges of parts that a split left shared by two regions come first.
// Otherwise, the region with the most parts comes first.
bool Compactor::PickMerge(MergePool pool, MergeJob* job) {
  const int64_t now_ms = env_.clock.NowMs(), monotonic_ms = env_.MonotonicMs();
  const uint64_t free_bytes = env_.files.FreeBytes(env_.options.path);
  MutexLock lock(work_mutex_);
  const auto version = file_set_.Pin();
  ForgetMendedIn(*version);
  bool best_references = false;
  size_t best_parts = 0;
  for (const auto& [place, parts] : version->parts) {
    const auto work = work_.find(place);
    if (work != work_.end() && work->second.held) continue;
    const auto failed = failed_merges_.find(place);
    if (failed != failed_merges_.end() && monotonic_ms < failed->second.again_ms) {
      const uint64_t wanted = failed->second.room_bytes;
      if (wanted == 0 || free_bytes < wanted) continue;
    }
    static const std::set<uint64_t> kNone;
    const auto facts = FactsOf(parts, work != work_.end() ? work->second.merging : kNone,
                               [&](const Part& part) { return ExpiredBytes(part, now_ms); });
    const bool points = tables_.IsPoints(place.first);
    const region::Picked at =
        points ? region::PartsToJoin(facts, env_.options.merge, now_ms)
               : PlacesOf(region::PartsToMerge(facts, env_.options.merge, now_ms));
    if (at.empty()) continue;
    Parts picked;
    for (const size_t i : at) picked.push_back(parts[i]);
    const bool large = BytesOf(picked) > env_.options.merge.large_bytes;
    if (pool != MergePool::kAny && large != (pool == MergePool::kLarge)) continue;
    const bool references = facts[at.front()].reference;
    if (!job->parts.empty() &&
        (references != best_references ? best_references : parts.size() <= best_parts)) {
      continue;
    }
    const bool bottom = points ? region::IsBottom(facts, at) : at.back() + 1 == parts.size();
    *job = {place, picked, bottom, pool != MergePool::kAny};
    best_references = references;
    best_parts = parts.size();
  }
  if (job->parts.empty()) return false;
  // Reserves all parts, or none if an allocation fails.
  const auto others = work_.find(job->place);
  RegionWork work = others != work_.end() ? others->second : RegionWork();
  const size_t merging = work.merging.size();
  for (const auto& part : job->parts) work.merging.insert(part->entry().number);
  // No other merge has reserved one of the parts.
  INVARIANT(work.merging.size() == merging + job->parts.size());
  work_.insert_or_assign(job->place, std::move(work));
  return true;
}

void Compactor::EndMerge(const MergeJob& job) {
  MutexLock lock(work_mutex_);
  const auto at = work_.find(job.place);
  INVARIANT(at != work_.end());
  RegionWork& work = at->second;
  for (const auto& part : job.parts) INVARIANT(work.merging.erase(part->entry().number) == 1);
  if (work.merging.empty() && !work.held) work_.erase(at);
  work_done_.NotifyAll();
}

// While the merge runs, a flush may add newer parts to the region.
Status Compactor::MergeJobParts(const MergeJob& job) {
  std::vector<MergeInput> inputs;
  {
    // A version keeps its memtables, which count as memory until it is released.
    const auto version = file_set_.Pin();
    const auto [table_id, region] = job.place;
    const region::RegionMap& regions = version->RegionsOf(table_id);
    const auto index = regions.IndexOfId(region);
    INVARIANT(index.has_value() && !job.parts.empty());
    for (const auto& part : job.parts) {
      inputs.push_back({part, regions.Start(*index), regions.Stop(*index)});
    }
  }
  StoreWork work = BeginWork(StoreWork::Kind::kMerge, job.place.first);
  work.parts_read = job.parts.size();
  work.bytes_read = BytesOf(job.parts);
  Edit edit;
  edit.remove = job.parts;
  edit.forget_cached = true;
  RETURN_IF_ERROR(WriteMerged(job.place, inputs, job.bottom, job.paced, job.context, &edit.add));
  RETURN_IF_ERROR(Prepend(file_set_.Apply(edit), "merge"));
  for (const lsm::PartEntry& entry : edit.add) {
    ++work.parts_written;
    work.bytes_written += entry.cells_bytes + entry.points_bytes;
  }
  EndWork(std::move(work));
  return {};
}

// The largest depth of all regions. A merge computes it again only for a new version.
struct Compactor::MergePressure {
  // `fullest` is the largest result of DepthOf for a region in this version.
  std::weak_ptr<const Version> version;
  size_t fullest = 0;
};

// Writes the merged parts and appends their entries to `written`, which must be empty. A points
// table gets one part per window. After a failure, `written` is empty and the files are removed.
Status Compactor::WriteMerged(RegionPlace place, std::vector<MergeInput> inputs, bool bottom,
                              bool paced, RequestContext* context,
                              std::vector<lsm::PartEntry>* written) {
  INVARIANT(!inputs.empty() && written->empty());
  lsm::PartEntry like;
  like.table = place.first;
  like.region = place.second;
  like.space = tables_.SpaceOf(place.first);
  like.first_sequence = UINT64_MAX;
  region::RowSpan rows = region::RowSpan::None();
  for (const MergeInput& input : inputs) {
    const lsm::PartEntry& from = input.part->entry();
    like.first_sequence = std::min(like.first_sequence, from.first_sequence);
    like.last_sequence = std::max(like.last_sequence, from.last_sequence);
    like.rewrites = std::max(like.rewrites, from.rewrites + 1);
    rows.Add(input.part->rows());
  }
  INVARIANT(like.first_sequence <= like.last_sequence);
  like.made_ms = env_.clock.NowMs();

  const Table* const table = tables_.ById(place.first);
  const region::WindowChoice windows(rows, like.made_ms);
  const bool points = tables_.IsPoints(place.first);
  PartSet writer(
      env_.files, lsm::NamespaceFolder(env_.options.path, like.space), layout(), table, registry_,
      RowDensity::kPacked,
      [&](std::optional<uint32_t> base) { return points ? RunOf(windows, base) : 0; },
      [&] {
        lsm::PartEntry entry = like;
        entry.number = file_set_.NewNumber();
        return entry;
      },
      written);
  MergePressure pressure;
  uint64_t seen_bytes = 0;
  static const Table kSeries;
  MergeTask task;
  task.table = table != nullptr ? table : &kSeries;
  task.inputs = std::move(inputs);
  task.bottom = bottom;
  task.now_ms = like.made_ms;
  task.between = [&]() -> Status {
    if (env_.closed()) return Status::Unavailable("the store is closed");
    if (context != nullptr) RETURN_IF_ERROR(context->Check());
    if (!paced || writer.bytes() - seen_bytes < kPaceBytes) return {};
    WaitForPace(&pressure, writer.bytes() - seen_bytes);
    seen_bytes = writer.bytes();
    return {};
  };
  const Status status = Survive([&]() -> Status {
    RETURN_IF_ERROR(MergeParts(layout(), task, &writer));
    return writer.Finish();
  });
  if (status.ok()) return {};
  file_set_.RemoveFiles(*written);
  written->clear();
  return Prepend(status, "merge");
}

size_t Compactor::DepthOf(RegionPlace place, const Parts& parts) const {
  if (!tables_.IsPoints(place.first)) return parts.size();
  std::vector<region::RowSpan> rows;
  for (const auto& part : parts) rows.push_back(part->rows());
  return region::Depth(rows);
}

// Limits the write rate of all background merges together, to leave disk bandwidth for other work.
void Compactor::WaitForPace(MergePressure* pressure, uint64_t bytes) {
  // With many regions, computing their depths takes longer than writing the bytes between two
  // checks. The computation is repeated only for a new version.
  const auto version = file_set_.Pin();
  if (pressure->version.lock() != version) {
    pressure->version = version;
    pressure->fullest = 0;
    for (const auto& [place, parts] : version->parts) {
      pressure->fullest = std::max(pressure->fullest, DepthOf(place, parts));
    }
  }
  const int64_t delay_ms = pace_.DelayMs(
      bytes, region::MergeBytesPerS(env_.options.merge, pressure->fullest), env_.MonotonicMs());
  if (delay_ms > 0) Pause(std::chrono::milliseconds(delay_ms));
}

// Checks for each region whether the store is still open. If the merge of a region fails, the other
// regions are still merged. The first error is returned at the end.
Status Compactor::Compact(RequestContext* context) {
  RETURN_IF_ERROR(env_.CheckOpen());
  const Status dropped = DropExpired();
  std::vector<RegionPlace> places;
  for (const auto version = file_set_.Pin(); const auto& [place, parts] : version->parts) {
    places.push_back(place);
  }
  const Status compacted = CompactRegions(places, context);
  RETURN_IF_ERROR(dropped);
  RETURN_IF_ERROR(compacted);
  return SweepSeries();
}

Status Compactor::Compact(const Table& table, RequestContext* context) {
  RETURN_IF_ERROR(env_.CheckOpen());
  std::vector<RegionPlace> places;
  {
    const auto version = file_set_.Pin();
    RETURN_IF_ERROR(CheckThere(*version, table));
    const region::RegionMap& regions = version->RegionsOf(table.id);
    for (size_t i = 0; i < regions.count(); ++i) places.emplace_back(table.id, regions.Id(i));
  }
  return CompactRegions(places, context);
}

// The caller must not keep a version meanwhile, because a version keeps its memtables.
Status Compactor::CompactRegions(const std::vector<RegionPlace>& places, RequestContext* context) {
  Status first;
  for (const RegionPlace& place : places) {
    if (context != nullptr) RETURN_IF_ERROR(context->Check());
    const Status status = CompactRegion(place, context);
    if (first.ok()) first = status;
  }
  return first;
}

// Even a single part is rewritten: it may hold tombstones, or compacted cells that can become
// points.
Status Compactor::CompactRegion(RegionPlace place, RequestContext* context) {
  const Status status = WhileHeld({place}, [&]() -> Status {
    // If the region was split or merged meanwhile, it has no parts. Later merges of its successors
    // handle their files.
    const MergeJob job{place, file_set_.Pin()->PartsOf(place.first, place.second), true, false,
                       context};
    return job.parts.empty() ? Status() : MergeJobParts(job);
  });
  if (!status.ok()) return Prepend(status, NameOf(place));
  ForgetMended();
  return {};
}

}  // namespace hg::engine
