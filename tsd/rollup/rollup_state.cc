#include "tsd/rollup/rollup_state.h"

#include <algorithm>

#include "storage/base/survive.h"
#include "storage/model/timestamp.h"

namespace hg::tsd {
Result<std::shared_ptr<RollupState>> RollupState::Open(
    Store& store, const std::string& table, std::vector<const codec::RollupLevel*> levels,
    const RollupMaking& making, size_t markers_max) {
  std::shared_ptr<RollupState> state(
      new RollupState(store, table, std::move(levels), making, markers_max));
  RETURN_IF_ERROR(state->Load());
  return state;
}

Status RollupState::Load() {
  ASSIGN_OR_RETURN(StoredRollupState stored, table_.Load());
  bool missed = stored.missed || stored.made.size() != levels_.size();
  for (const codec::RollupLevel* level : levels_) {
    RETURN_IF_ERROR(CheckTable(*level, stored.tables));
    const auto known = stored.made.find(level->name);
    missed |= known == stored.made.end() || known->second != MadeOf(*level, making_);
    horizon_ = std::max(horizon_, stored.whole[level->name]);
  }
  start_ = stored.start;
  complete_ = stored.complete;
  whole_ = std::move(stored.whole);
  filled_ = std::move(stored.filled);
  kept_ = std::move(stored.kept);
  odd_from_ = std::move(stored.odd_from);
  for (const MetricHour& hour : stored.markers) {
    DirtyMarker& marker = markers_[hour];
    marker.state = DirtyMarker::State::kThere;
    Count(&marker, false);
  }
  if (missed) Forget();
  return {};
}

Status RollupState::CheckTable(const codec::RollupLevel& level,
                               const std::map<std::string, uint32_t>& known) const {
  const auto refuse = [&level](const std::string& why) {
    return Status::InvalidArgument(
        "tsd.rollups.automatic cannot compute the rollups of interval \"" + level.name +
        "\": its table \"" + level.table + "\" holds " + why +
        ". Give it a table of its own in tsd.rollups.config");
  };
  if (const auto ours = known.find(level.table); ours != known.end()) {
    if (ours->second == level.interval.interval_s) return {};
    return refuse("rollups of " + std::to_string(ours->second) + " seconds");
  }
  ScanSpec spec;
  spec.table = level.table;
  spec.keys_only = true;
  spec.batch_rows = 1;
  ASSIGN_OR_RETURN(const auto scan, store_.Scan(spec));
  std::vector<Row> rows;
  RETURN_IF_ERROR(scan->Next(&rows));
  return !rows.empty() ? refuse("rollups that clients wrote") : Status();
}

// Clears the state in memory. Running writes that had markers become writes without markers.
void RollupState::Forget() {
  // This copy is made first, so that the state is unchanged if memory cannot be allocated.
  std::map<MetricHour, uint32_t> writes = unmarked_;
  for (const auto& [key, marker] : markers_)
    if (marker.writers > 0) writes[key] += marker.writers;
  unmarked_.swap(writes);
  start_.reset();
  complete_ = false;
  horizon_ = 0;
  whole_.clear();
  filled_.clear();
  odd_from_.clear();
  forgotten_.swap(markers_);
  markers_.clear();
  uncounted_markers_ = 0;
  ++times_forgotten_;
  settled_.notify_all();
}

KeptRollups RollupState::KeptOf(ByteView metric) const {
  const auto kept = kept_.find(metric);
  return kept != kept_.end() ? kept->second : KeptRollups();
}

uint32_t RollupState::KeptBeforeLocked(ByteView metric) const {
  const auto kept = kept_.find(metric);
  return kept != kept_.end() ? kept->second.before : 0;
}

query::RolledHours RollupState::Of(ByteView metric, const RowRange& rows) {
  query::RolledHours out;
  const std::lock_guard lock(mutex_);
  const KeptRollups kept = KeptOf(metric);
  out.kept_before_s = kept.before;
  out.times_forgotten = times_forgotten_;
  const bool filled = complete_ || filled_.contains(metric);
  const auto odd = odd_from_.find(metric);
  for (const codec::RollupLevel* level : levels_) {
    // The raw points before `kept_before_s` may be deleted. The rollups of these points stay valid
    // even while all other rollups are recomputed.
    const uint32_t kept_from = kept.BeginOf(Place(*level));
    if (kept_from < out.kept_before_s && !(start_ && filled))
      out.levels.push_back({level, kept_from, out.kept_before_s});
    if (!start_) continue;
    const uint32_t begin = filled ? kept_from : *start_;
    const auto whole = whole_.find(level->name);
    uint32_t end = whole != whole_.end() ? whole->second : 0;
    if (filled) end = std::max(end, kept.before);  // the clock may have been set back
    if (odd != odd_from_.end()) end = std::min(end, std::max(odd->second.day, kept.before));
    if (end > begin) out.levels.push_back({level, begin, end});
  }
  // Markers before kept.before are ignored. The rollups of these hours are final as soon as
  // KeepBefore begins, and it is about to remove their markers.
  auto marker = markers_.lower_bound(MetricHour(metric, std::max(rows.begin, kept.before)));
  for (;
       marker != markers_.end() && marker->first.first == metric && marker->first.second < rows.end;
       ++marker) {
    if (out.changed.size() == kChangedMax) {
      const uint32_t next = marker->first.second;
      for (query::RolledLevel& level : out.levels) {
        const auto interval = static_cast<uint32_t>(level.level->interval.interval_s);
        level.end_s = std::min(level.end_s, std::max(next - next % interval, kept.before));
      }
      std::erase_if(out.levels, [](const auto& level) { return level.end_s <= level.begin_s; });
      break;
    }
    out.changed.push_back(marker->first.second);
  }
  return out;
}

std::optional<uint32_t> RollupState::start() const {
  const std::lock_guard lock(mutex_);
  return start_;
}

Status RollupState::Discard() {
  RETURN_IF_ERROR(table_.TellMissed());
  // Declared before the lock, so that the markers are freed after the lock is released.
  std::map<MetricHour, DirtyMarker> earlier, cleared;
  const std::lock_guard lock(mutex_);
  earlier.swap(forgotten_);
  Forget();
  cleared.swap(forgotten_);
  return {};
}

// Begins with an empty state. If the process ends before the last write below, the next process
// discards the state again.
Status RollupState::Begin(uint32_t start) {
  RETURN_IF_ERROR(Discard());
  for (const codec::RollupLevel* level : levels_) RETURN_IF_ERROR(table_.PutTable(*level));
  RETURN_IF_ERROR(table_.Clean());
  RaiseHorizon(start);
  for (const codec::RollupLevel* level : levels_)
    RETURN_IF_ERROR(table_.PutLevel(*level, MadeOf(*level, making_), start));
  RETURN_IF_ERROR(table_.PutStart(start));
  RETURN_IF_ERROR(table_.ForgetMissed());
  const std::lock_guard lock(mutex_);
  for (const codec::RollupLevel* level : levels_) whole_[level->name] = start;
  start_ = start;
  return {};
}

uint32_t RollupState::WholeUpTo(const codec::RollupLevel& level) const {
  const std::lock_guard lock(mutex_);
  const auto whole = whole_.find(level.name);
  return whole != whole_.end() ? whole->second : 0;
}

uint32_t RollupState::horizon() const {
  const std::lock_guard lock(mutex_);
  return horizon_;
}

void RollupState::RaiseHorizon(uint32_t base) {
  std::unique_lock lock(mutex_);
  horizon_ = std::max(horizon_, base);
  settled_.wait(lock, [this] {
    return std::none_of(unmarked_.begin(), unmarked_.end(),
                        [this](const auto& write) { return write.first.second < horizon_; });
  });
}

Status RollupState::Advance(const std::vector<const codec::RollupLevel*>& levels, uint32_t to) {
  for (const codec::RollupLevel* level : levels) RETURN_IF_ERROR(table_.PutWhole(*level, to));
  const std::lock_guard lock(mutex_);
  for (const codec::RollupLevel* level : levels) whole_[level->name] = to;
  return {};
}

bool RollupState::complete() const {
  const std::lock_guard lock(mutex_);
  return complete_;
}

bool RollupState::Filled(const Bytes& metric) const {
  const std::lock_guard lock(mutex_);
  return complete_ || filled_.contains(metric);
}

Status RollupState::SetFilled(const Bytes& metric) {
  RETURN_IF_ERROR(table_.PutFilled(metric));
  const std::lock_guard lock(mutex_);
  filled_.insert(metric);
  return {};
}

Status RollupState::SetComplete() {
  RETURN_IF_ERROR(table_.PutComplete());
  const std::lock_guard lock(mutex_);
  complete_ = true;
  return {};
}

uint32_t RollupState::KeptBefore(const Bytes& metric) const {
  const std::lock_guard lock(mutex_);
  return KeptBeforeLocked(metric);
}

// The rollups of a day are kept in each level or in none. The record must be in the log before the
// first point is deleted, but it need not be durable. So changes that wait for the record do not
// wait for a disk.
Result<uint32_t> RollupState::KeepBefore(const Bytes& metric, uint32_t wanted) {
  std::unique_lock lock(mutex_);
  const KeptRollups old = KeptOf(metric);
  const uint32_t had = std::min(old.before, wanted);
  if (!start_ || !(complete_ || filled_.contains(metric))) return had;
  uint32_t bound = wanted;
  std::vector<Bytes> places;
  for (const codec::RollupLevel* level : levels_) {
    bound = std::min(bound, whole_[level->name]);
    places.push_back(Place(*level));
  }
  if (const auto odd = odd_from_.find(metric); odd != odd_from_.end())
    bound = std::min(bound, odd->second.unreadable_day);
  for (auto at = markers_.lower_bound(MetricHour(metric, old.before));
       at != markers_.end() && at->first.first == metric && at->first.second < bound; ++at)
    if (KeepsPoints(at->second)) bound = at->first.second;
  bound -= bound % kDayS;
  if (bound <= old.before) return had;
  // If memory runs out before PutKept, the state is unchanged. If memory runs out in PutKept, that
  // is handled as a failed write.
  const KeptRollups kept = old.UpTo(bound, places);
  KeptRollups before = old, behind = kept;
  KeptRollups& known = kept_[metric];
  keeping_.emplace(metric, bound);
  // The new record is set before the write, so that these rollups are kept even if all rollups are
  // discarded concurrently.
  std::swap(known, behind);
  lock.unlock();
  const Status put = Survive([&] { return later_.PutKept(metric, old, kept); });
  lock.lock();
  keeping_.reset();
  settled_.notify_all();
  if (!put.ok()) {
    std::swap(known, before);
    return put;
  }
  std::vector<uint32_t> odd;  // hours whose points may now be deleted
  for (auto at = markers_.lower_bound(MetricHour(metric, 0));
       at != markers_.end() && at->first.first == metric && at->first.second < bound;) {
    odd.push_back(at->first.second);
    Erase(at++);
  }
  lock.unlock();
  for (const uint32_t hour : odd) RETURN_IF_ERROR(later_.DropMarker({metric, hour}));
  return bound;
}

}  // namespace hg::tsd
