#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "storage/base/survive.h"
#include "storage/model/timestamp.h"
#include "tsd/rollup/rollup_state.h"

// Dirty markers record which hours have changed since their rollups were computed.

namespace hg::tsd {
void RollupState::Count(DirtyMarker* marker, bool counted) {
  if (counted && !marker->counted) --uncounted_markers_;
  if (!counted && marker->counted) ++uncounted_markers_;
  marker->counted = counted;
}

void RollupState::SetOdd(DirtyMarker* marker, Odd odd) {
  Count(marker, odd == Odd::kNo);
  marker->odd = odd;
}

void RollupState::Erase(std::map<MetricHour, DirtyMarker>::iterator at) {
  Count(&at->second, true);
  markers_.erase(at);
}

void RollupState::WaitWhileKeeping(std::unique_lock<std::mutex>* lock, const MetricHour& key) {
  settled_.wait(*lock, [&] {
    return !keeping_ || keeping_->first != key.first || key.second >= keeping_->second;
  });
}

Result<RollupState::DirtyMarker*> RollupState::Leave(std::unique_lock<std::mutex>* lock,
                                                     const MetricHour& key, bool of_change) {
  if (const auto [at, is_new] = markers_.try_emplace(key); !is_new) {
    if (at->second.state == DirtyMarker::State::kThere) return &at->second;
    settled_.wait(*lock);
    return nullptr;
  }
  // If there are too many markers, all rollups are recomputed. Markers of odd hours
  // (rollup_state.h) do not count, because they would be set again. Markers of previous processes
  // do not count until their hours are recomputed, because it is unknown which of these hours are
  // odd.
  const bool too_many = of_change && markers_.size() - uncounted_markers_ > markers_max_;
  const uint64_t times_forgotten = times_forgotten_;
  lock->unlock();
  // The change comes after its marker in the log. Other threads wait for the marker, so its state
  // must be set even if the write fails.
  Status put = Survive([&] { return too_many ? later_.TellMissed() : later_.PutMarker(key); });
  lock->lock();
  if (put.ok() && too_many) put = Survive([this] { Forget(); });
  const auto at = markers_.find(key);
  // While this thread did not hold the lock, the marker of this key was replaced or removed.
  if (times_forgotten_ != times_forgotten || at == markers_.end()) {
    RETURN_IF_ERROR(put);
    return nullptr;
  }
  if (put.ok()) {
    at->second.state = DirtyMarker::State::kThere;
  } else {
    Erase(at);
  }
  settled_.notify_all();
  RETURN_IF_ERROR(put);
  return &at->second;
}

Status RollupState::BeforeChange(const ChangedRows& rows) {
  const MetricHour key(rows.metric, rows.base);
  std::unique_lock lock(mutex_);
  // The conditions are checked again after each wait. KeepBefore may have advanced meanwhile. While
  // the marker was written, the state may have been discarded and begun again, and then
  // RaiseHorizon no longer waits for this change.
  for (;;) {
    WaitWhileKeeping(&lock, key);
    if (rows.base < KeptBeforeLocked(rows.metric)) return {};
    if (rows.base >= horizon_) break;
    ASSIGN_OR_RETURN(DirtyMarker* const marker, Leave(&lock, key, true));
    if (marker == nullptr) continue;
    ++marker->writers;
    ++marker->changes;
    SetOdd(marker, Odd::kNo);
    return {};
  }
  ++unmarked_[key];
  return {};
}

// Some of the running writes of an hour may have begun when the hour was above the horizon, without
// a marker, and others later, with a marker. This function does not distinguish them, but the
// marker stays until the last of these writes has ended.
void RollupState::AfterChange(const ChangedRows& rows) {
  const MetricHour key(rows.metric, rows.base);
  const std::lock_guard lock(mutex_);
  if (const auto write = unmarked_.find(key); write != unmarked_.end()) {
    if (--write->second == 0) unmarked_.erase(write);
    settled_.notify_all();
    return;
  }
  const auto marker = markers_.find(key);
  if (marker == markers_.end() || marker->second.writers == 0) return;
  --marker->second.writers;
  ++marker->second.changes;
}

// Markers of previous processes count as well, because most of their hours are odd again.
bool RollupState::HasTooManyOdd(const Bytes& metric) const {
  if (uncounted_markers_ < markers_max_) return false;
  if (uncounted_markers_ >= markers_max_ + kOddMoreMax) return true;
  size_t odd = 0;
  for (auto at = markers_.lower_bound(MetricHour(metric, 0));
       at != markers_.end() && at->first.first == metric && odd < kOddOfMetric; ++at)
    odd += at->second.counted ? 0 : 1;
  return odd == kOddOfMetric;
}

// While the lock is not held, only Forget may change odd_from_.
Status RollupState::CountAsOdd(std::unique_lock<std::mutex>* lock, const Bytes& metric,
                               const OddFrom& odd) {
  const auto known = odd_from_.find(metric);
  const std::optional<OddFrom> old =
      known != odd_from_.end() ? std::optional(known->second) : std::nullopt;
  odd_from_[metric] = odd;
  const uint64_t times_forgotten = times_forgotten_;
  lock->unlock();
  const Status put = Survive([&] { return table_.PutOddFrom(metric, odd); });
  lock->lock();
  if (put.ok() || times_forgotten_ != times_forgotten) return put;
  odd_from_.erase(metric);
  if (old) odd_from_.emplace(metric, *old);
  return put;
}

bool RollupState::CountsAsOdd(const Bytes& metric, uint32_t base) const {
  const std::lock_guard lock(mutex_);
  const auto odd = odd_from_.find(metric);
  return odd != odd_from_.end() && base >= odd->second.day;
}

Status RollupState::MarkOdd(const Bytes& metric, uint32_t base, Odd odd) {
  const MetricHour key(metric, base);
  std::unique_lock lock(mutex_);
  const uint64_t times_forgotten = times_forgotten_;
  for (;;) {
    WaitWhileKeeping(&lock, key);
    if (times_forgotten_ != times_forgotten || base < KeptBeforeLocked(metric)) return {};
    const uint32_t day = base - base % kDayS;
    const uint32_t unreadable_day = odd == Odd::kUnreadable ? day : OddFrom().unreadable_day;
    if (const auto known = odd_from_.find(metric);
        known != odd_from_.end() && base >= known->second.day) {
      if (unreadable_day >= known->second.unreadable_day) return {};
      return CountAsOdd(&lock, metric, {known->second.day, unreadable_day});
    }
    const auto of_before = markers_.find(key);
    const bool is_new = of_before == markers_.end();
    if ((is_new || of_before->second.counted) && HasTooManyOdd(metric))
      return CountAsOdd(&lock, metric, {day, unreadable_day});
    ASSIGN_OR_RETURN(DirtyMarker* const marker, Leave(&lock, key, false));
    if (marker == nullptr) continue;
    const bool is_worse = marker->odd == Odd::kExtras && odd == Odd::kUnreadable;
    if (is_new || is_worse) SetOdd(marker, marker->changes == 0 || is_worse ? odd : Odd::kNo);
    return {};
  }
}

std::vector<RollupState::DirtyHour> RollupState::Repairable(
    size_t most, const std::function<bool(const MetricHour&)>& wait) const {
  constexpr size_t kMarkersAtOnce = 4096;
  std::vector<DirtyHour> out;
  for (std::optional<MetricHour> next = MetricHour(); next;) {
    // Network loops wait for the lock, so they can take it between two parts of the markers.
    if (!next->first.empty()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const std::lock_guard lock(mutex_);
    uint32_t whole = 0;
    for (const auto& [name, to] : whole_) whole = std::max(whole, to);
    auto it = markers_.lower_bound(*std::exchange(next, std::nullopt));
    for (size_t visited = 0; it != markers_.end() && out.size() < most; ++it, ++visited) {
      const auto& [key, marker] = *it;
      if (visited == kMarkersAtOnce) {
        next = key;
        break;
      }
      if (marker.odd != Odd::kNo || marker.writers > 0 ||
          marker.state != DirtyMarker::State::kThere || key.second >= whole)
        continue;
      if (wait && wait(key)) continue;
      out.push_back({key.first, key.second, marker.changes});
    }
  }
  return out;
}

Result<bool> RollupState::Unmark(const DirtyHour& marker) {
  const MetricHour key(marker.metric, marker.base);
  std::unique_lock lock(mutex_);
  auto at = markers_.find(key);
  if (at == markers_.end()) return true;
  if (at->second.writers > 0 || at->second.changes != marker.changes) return false;
  at->second.state = DirtyMarker::State::kRemoving;
  lock.unlock();
  // The marker may exist again after a crash, which does no harm. Network loops that change the
  // hour wait for this write, so it must not wait for a disk.
  const Status dropped = Survive([&] { return later_.DropMarker(key); });
  lock.lock();
  at = markers_.find(key);
  if (at != markers_.end() && dropped.ok()) Erase(at);
  if (at != markers_.end() && !dropped.ok()) at->second.state = DirtyMarker::State::kThere;
  settled_.notify_all();
  RETURN_IF_ERROR(dropped);
  return true;
}

void RollupState::GiveUp(const DirtyHour& marker, Odd odd) {
  const std::lock_guard lock(mutex_);
  const auto at = markers_.find({marker.metric, marker.base});
  if (at != markers_.end() && at->second.changes == marker.changes) SetOdd(&at->second, odd);
}

size_t RollupState::markers() const {
  const std::lock_guard lock(mutex_);
  return markers_.size();
}

}  // namespace hg::tsd
