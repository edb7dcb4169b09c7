#pragma once
// The durable state of automatic rollups (docs/rollups.md): up to where they are complete, and
// which hours of which metrics have changed since (dirty markers, type Mark). The invariant: if a
// level reports an interval as complete, and none of its hours has a dirty marker, its cells match
// the raw points. So a marker is in the log before the change, and is removed only after the cells
// were recomputed without a change in between.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "query/automatic_rollup_hours.h"
#include "storage/base/status.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_making.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// Why the rollups of an hour do not represent all its data, even when they are recomputed.
enum class Odd : uint8_t {
  kNo,
  kExtras,  // it has annotations, infinities or shown NaNs; rollups cover only its finite numbers
  kUnreadable,  // its points cannot be read, so it has no rollups
};

/// Thread-safe.
class RollupState : public ChangeListener, public query::RolledHoursSource {
 public:
  /// Maximum number of dirty markers of this process, each about a hundred bytes. Above that,
  /// recomputing all rollups is cheaper, and the state is discarded.
  static constexpr size_t kMarksMax = 500'000;
  /// Limits the dirty markers of one metric. It applies once there are kMarksMax odd hours in all.
  /// A metric with this many odd hours then gets no more markers, and all its hours from the next
  /// day on count as odd.
  static constexpr size_t kOddOfMetric = 96;

  /// Reads the table, which must exist. The store and the levels must outlive the object. If the
  /// levels or the parameters differ from those in the table, all rollups must be recomputed.
  /// InvalidArgument: the table of a level holds rollups written by clients, or those of another
  /// interval.
  static Result<std::shared_ptr<RollupState>> Open(Store& store, const std::string& table,
                                                   std::vector<const codec::RollupLevel*> levels,
                                                   const RollupMaking& making,
                                                   size_t marks_max = kMarksMax);
  /// Called by processes that write to a store without a RollupState. It durably records that
  /// changes were missed.
  static Status TellMissed(Store& store, const std::string& table) {
    return RollupStateRows(store, table).TellMissed();
  }

  Status BeforeChange(const ChangedRows& rows) override;
  void AfterChange(const ChangedRows& rows) override;
  query::RolledHours Of(ByteView metric, const RowRange& rows) override;

  // The following functions are for the rollup maker only. It calls them on one thread.

  [[nodiscard]] const std::vector<const codec::RollupLevel*>& levels() const { return levels_; }
  /// Returns the time from which rollups are computed as time passes. Rollups before it are
  /// computed metric by metric. nullopt: the work has not begun, or all rollups must be recomputed.
  [[nodiscard]] std::optional<uint32_t> start() const;
  /// Discards everything except kept rollups (KeepBefore) and begins at `start`, which must be a
  /// multiple of every interval.
  Status Begin(uint32_t start);
  /// Returns the time up to which the rollups of the level are complete, or 0 if there is no start.
  [[nodiscard]] uint32_t WholeUpTo(const codec::RollupLevel& level) const;
  /// Changes of hours below this time must be reported. 0 means that no changes need to be
  /// reported.
  [[nodiscard]] uint32_t horizon() const;
  /// From now on, changes of hours below `base` set dirty markers. Waits for writes that began
  /// without setting markers. Changes that WatchedPoints does not report set no markers; the caller
  /// must handle them.
  void RaiseHorizon(uint32_t base);
  /// Records that the intervals up to `to` have their cells, except hours with markers.
  Status Advance(const std::vector<const codec::RollupLevel*>& levels, uint32_t to);
  /// Sets a dirty marker although nothing changed, because the rollups do not represent all data of
  /// the hour. `odd` gives the reason and is not kNo. Recomputing does not help until the hour
  /// changes.
  Status MarkOdd(const Bytes& metric, uint32_t base, Odd odd);
  /// Whether the hour counts as odd without a marker, until all rollups are recomputed.
  [[nodiscard]] bool CountsAsOdd(const Bytes& metric, uint32_t base) const;

  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool Filled(const Bytes& metric) const;
  Status SetFilled(const Bytes& metric);
  /// Records that all metrics are filled. Metrics that are unknown so far have no points before the
  /// start, except late ones.
  Status SetComplete();

  struct Marked {
    Bytes metric;
    uint32_t base = 0;
    uint64_t changes = 0;  // must be passed back to Unmark
  };
  /// Returns at most `most` markers to repair, ordered by metric and hour. No write of these hours
  /// is running, and recomputing them may help. Leaves out the markers for which `wait` returns
  /// true. `wait` may be empty.
  [[nodiscard]] std::vector<Marked> Repairable(
      size_t most, const std::function<bool(const MetricHour&)>& wait = {}) const;
  /// Removes a marker after the cells of the hour were recomputed. Returns false if the hour
  /// changed since Repairable; the marker stays then.
  Result<bool> Unmark(const Marked& mark);
  /// Records that the recomputed rollups still do not represent all data of the hour. `odd` gives
  /// the reason and is not kNo.
  void GiveUp(const Marked& mark, Odd odd);
  [[nodiscard]] size_t marks() const;

  /// For the code that deletes raw points by age. Returns the hour, at most `wanted`, before which
  /// points may be deleted while their rollups stay. From then on these rollups are not recomputed,
  /// and annotations, NaNs and infinities before that hour are no longer reported, because they are
  /// deleted with the points. Raw points stay from the first day with a changed or unreadable hour.
  /// 0: nothing may be deleted.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);
  [[nodiscard]] uint32_t KeptBefore(const Bytes& metric) const;

 private:
  struct Mark {
    enum class State : uint8_t { kPutting, kThere, kRemoving };
    State state = State::kPutting;
    Odd odd = Odd::kNo;
    bool counted = true;   // included in the count for kMarksMax
    uint32_t writers = 0;  // writes between BeforeChange and AfterChange
    uint64_t changes = 0;
  };

  RollupState(Store& store, const std::string& table, std::vector<const codec::RollupLevel*> levels,
              const RollupMaking& making, size_t marks_max)
      : store_(store),
        table_(store, table),
        levels_(std::move(levels)),
        making_(making),
        marks_max_(marks_max) {}

  Status Load();
  /// `known` maps each table that holds rollups to its interval in seconds.
  Status CheckTable(const codec::RollupLevel& level,
                    const std::map<std::string, uint32_t>& known) const;
  /// Clears the state in memory. Requires mutex_.
  void Forget();
  [[nodiscard]] Bytes Place(const codec::RollupLevel& level) const {
    return PlaceOf(level, making_);
  }
  // Implemented in rollup_marks.cc. They require mutex_; those with a `lock` parameter release it
  // meanwhile.
  /// Waits while KeepBefore works on the hour of the key.
  void WaitWhileKeeping(std::unique_lock<std::mutex>* lock, const MetricHour& key);
  /// Sets a marker before the change. The marker is in the log when the function returns. nullptr:
  /// the function waited, or the state was cleared, so the caller must start again.
  Result<Mark*> Leave(std::unique_lock<std::mutex>* lock, const MetricHour& key, bool of_change);
  [[nodiscard]] bool HasTooManyOdd(const Bytes& metric) const;
  Status CountAsOdd(std::unique_lock<std::mutex>* lock, const Bytes& metric, const OddFrom& odd);
  void Count(Mark* mark, bool counted);
  void SetOdd(Mark* mark, Odd odd);
  void Erase(std::map<MetricHour, Mark>::iterator at);
  /// Whether the marker prevents deleting raw points by age.
  [[nodiscard]] static bool KeepsPoints(const Mark& mark) {
    return mark.state != Mark::State::kThere || mark.writers > 0 || mark.odd != Odd::kExtras;
  }
  // The caller of the following functions holds mutex_.
  [[nodiscard]] KeptRollups KeptOf(ByteView metric) const;
  [[nodiscard]] uint32_t KeptBeforeLocked(ByteView metric) const;

  Store& store_;
  RollupStateRows table_;
  const std::vector<const codec::RollupLevel*> levels_;
  const RollupMaking making_;
  const size_t marks_max_;

  mutable std::mutex mutex_;
  std::condition_variable
      settled_;  // signals changes of a marker's state, of unmarked_ and of keeping_
  // The following members are guarded by mutex_.
  std::optional<uint32_t> start_;
  bool complete_ = false;
  uint32_t horizon_ = 0;
  std::map<std::string, uint32_t> whole_;  // by name of the level
  std::set<Bytes, std::less<>> filled_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  std::map<Bytes, OddFrom, std::less<>> odd_from_;
  std::optional<MetricHour>
      keeping_;  // changes below it wait until it is known whether they set markers
  std::map<MetricHour, Mark> marks_;
  size_t uncounted_marks_ = 0;  // markers of odd hours and of earlier processes
  uint64_t times_forgotten_ = 0;
  std::map<MetricHour, uint32_t> unmarked_;  // running writes above the horizon
};

}  // namespace hg::tsd
