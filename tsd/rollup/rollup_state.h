#pragma once
// The durable state of automatic rollups (docs/rollups.md). It has the time up to which the rollups
// of each level are complete. It also has the changed hours of each metric (dirty markers, type
// DirtyMarker).
//
// The invariant is: if a level reports an interval as complete and none of the hours in the
// interval has a dirty marker, the cells of the interval match the raw points. So a marker is
// written to the log before the hour changes. The marker is removed only after the cells were
// recomputed, and only if the hour did not change again.

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

#include "query/rows/automatic_rollup_hours.h"
#include "storage/base/status.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_making.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// The reasons why the rollups of an hour cannot represent all data of the hour, even if they are
/// recomputed.
enum class Odd : uint8_t {
  kNo,
  // The hour has annotations, infinities, or NaNs that queries show (IsSpecialDouble is false for
  // these NaNs). The rollups of the hour represent only its finite numbers.
  kExtras,
  kUnreadable,  // the points of the hour cannot be read, so the hour has no rollups
};

/// The state of automatic rollups. The object is thread-safe.
class RollupState : public ChangeListener, public query::RolledHoursSource {
 public:
  /// The maximum number of dirty markers that this process may have set. A marker needs about a
  /// hundred bytes. If there are more markers, this object discards the state, and the rollup maker
  /// recomputes all rollups, which is cheaper than recomputing so many hours.
  static constexpr size_t kMarkersMax = 500'000;
  /// The maximum number of hours that Of returns as changed. If a metric has more changed hours in
  /// a range, the levels that Of returns end at the first changed hour that Of does not return, so
  /// that a query reads raw points from this hour on. Without the limit, each query would copy up
  /// to kMarkersMax hours while changes wait for the lock.
  static constexpr size_t kChangedMax = 10'000;
  /// The maximum number of markers of one metric for odd hours, which are hours whose data rollups
  /// cannot represent (Odd). This limit applies only while there are at least kMarkersMax such
  /// markers in total. A metric that exceeds the limit gets no more markers for odd hours. Instead,
  /// all its hours count as odd from the day of the first odd hour that got no marker.
  static constexpr size_t kOddOfMetric = 96;
  /// If there are this many more than kMarkersMax such markers in total, every metric
  /// counts as a metric that exceeds the limit.
  static constexpr size_t kOddMoreMax = 100'000;

  /// Reads the table, which must exist. The store and the levels must outlive the object. If the
  /// levels or the parameters differ from those that are stored in the table, the rollup maker
  /// recomputes all rollups. InvalidArgument: the table of a level holds rollups that clients
  /// wrote, or rollups of another interval.
  static Result<std::shared_ptr<RollupState>> Open(Store& store, const std::string& table,
                                                   std::vector<const codec::RollupLevel*> levels,
                                                   const RollupMaking& making,
                                                   size_t markers_max = kMarkersMax);
  /// Durably records that a process wrote to the store without setting dirty markers. A process
  /// that has no RollupState must call this function.
  static Status TellMissed(Store& store, const std::string& table) {
    return RollupStateRows(store, table).TellMissed();
  }

  Status BeforeChange(const ChangedRows& rows) override;
  void AfterChange(const ChangedRows& rows) override;
  query::RolledHours Of(ByteView metric, const RowRange& rows) override;

  // The following functions are only for the rollup maker, which calls all of them on one thread.

  [[nodiscard]] const std::vector<const codec::RollupLevel*>& levels() const { return levels_; }
  /// Returns the start time: rollups from this time on are computed for all metrics, hour by hour,
  /// and rollups before this time are computed metric by metric. nullopt: the rollup maker has not
  /// begun, or it must recompute all rollups.
  [[nodiscard]] std::optional<uint32_t> start() const;
  /// Discards the state, except for kept rollups (KeepBefore). Sets the start time to `start`,
  /// which must be a multiple of every interval.
  Status Begin(uint32_t start);
  /// Discards the state, except for kept rollups, so that queries read raw points. start() is
  /// nullopt then, also after a restart.
  Status Discard();
  /// Returns the time up to which the rollups of the level are complete, or 0 if start() is
  /// nullopt.
  [[nodiscard]] uint32_t WholeUpTo(const codec::RollupLevel& level) const;
  /// Returns the time before which changes of hours must be reported to this object. 0: no changes
  /// need to be reported.
  [[nodiscard]] uint32_t horizon() const;
  /// Makes changes of hours before `base` set dirty markers from now on. The function waits for all
  /// running writes that set no markers. Changes that WatchedPoints does not report set no markers;
  /// the caller must handle these changes.
  void RaiseHorizon(uint32_t base);
  /// Records that the tables of the levels have the cells of all intervals up to `to`, except for
  /// hours that have markers.
  Status Advance(const std::vector<const codec::RollupLevel*>& levels, uint32_t to);
  /// Sets a dirty marker for an unchanged hour, because rollups cannot represent all data of the
  /// hour. `odd` is the reason; it must not be kNo. Recomputing the hour does not help until the
  /// hour changes.
  Status MarkOdd(const Bytes& metric, uint32_t base, Odd odd);
  /// Returns whether an hour without a marker counts as odd (not representable by rollups), because
  /// its metric has too many odd hours (kOddOfMetric). This ends when all rollups are recomputed.
  [[nodiscard]] bool CountsAsOdd(const Bytes& metric, uint32_t base) const;

  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool Filled(const Bytes& metric) const;
  Status SetFilled(const Bytes& metric);
  /// Records that the rollups from before the start time are complete for all metrics. A metric
  /// that appears later has no points from before the start time, except late points, and these set
  /// markers.
  Status SetComplete();

  struct DirtyHour {
    Bytes metric;
    uint32_t base = 0;
    uint64_t changes = 0;  // number of changes of the hour; Unmark compares it
  };
  /// Returns at most `most` dirty markers of hours that should be recomputed, ordered by metric and
  /// hour. The result has only hours for which no write is running and for which recomputing may
  /// help. Markers for which `wait` returns true are left out. `wait` may be empty.
  [[nodiscard]] std::vector<DirtyHour> Repairable(
      size_t most, const std::function<bool(const MetricHour&)>& wait = {}) const;
  /// Removes a dirty marker. Call this function after the cells of the hour were recomputed. If the
  /// hour changed after the call of Repairable, the marker stays, and the function returns false.
  Result<bool> Unmark(const DirtyHour& marker);
  /// Records that the rollups of the hour were recomputed but still cannot represent all data of
  /// the hour. `odd` is the reason; it must not be kNo.
  void GiveUp(const DirtyHour& marker, Odd odd);
  [[nodiscard]] size_t markers() const;

  /// Returns the hour, at most `wanted`, before which raw points may be deleted while their rollups
  /// stay; 0: nothing may be deleted. Call this function before you delete old raw points. After
  /// the call, the rollups before that hour are not recomputed. Annotations, NaNs and infinities
  /// before that hour are no longer reported, because they are deleted together with the points.
  /// From the first day that has a changed or unreadable hour, raw points stay.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);
  [[nodiscard]] uint32_t KeptBefore(const Bytes& metric) const;

 private:
  struct DirtyMarker {
    enum class State : uint8_t { kPutting, kThere, kRemoving };
    State state = State::kPutting;
    Odd odd = Odd::kNo;
    bool counted = true;  // whether the marker counts towards kMarkersMax
    /// Number of writes of the hour that are between BeforeChange and AfterChange.
    uint32_t writers = 0;
    uint64_t changes = 0;
  };

  RollupState(Store& store, const std::string& table, std::vector<const codec::RollupLevel*> levels,
              const RollupMaking& making, size_t markers_max)
      : store_(store),
        table_(store, table),
        later_(store.CommittedLater(), table),
        levels_(std::move(levels)),
        making_(making),
        markers_max_(markers_max) {}

  Status Load();
  /// Returns InvalidArgument if the level's table holds rollups that clients wrote, or automatic
  /// rollups of another interval. `known` has the interval in seconds of each table with automatic
  /// rollups.
  Status CheckTable(const codec::RollupLevel& level,
                    const std::map<std::string, uint32_t>& known) const;
  /// Clears the state in memory, and moves the markers to forgotten_. The caller must hold mutex_.
  void Forget();
  [[nodiscard]] Bytes Place(const codec::RollupLevel& level) const {
    return PlaceOf(level, making_);
  }
  // The following functions are defined in dirty_markers.cc. Callers must hold mutex_. Functions
  // with a parameter `lock` release it while they wait. WaitWhileKeeping waits while KeepBefore
  // works on the hour `key`.
  void WaitWhileKeeping(std::unique_lock<std::mutex>* lock, const MetricHour& key);
  /// Sets the dirty marker of an hour. `of_change` is true if the caller will change the hour, and
  /// false if rollups cannot represent the data of the hour (MarkOdd). If the result is a marker,
  /// the marker is already in the log. The result is nullptr if the function had to wait, or if the
  /// state was cleared; the caller must then start again.
  Result<DirtyMarker*> Leave(std::unique_lock<std::mutex>* lock, const MetricHour& key,
                             bool of_change);
  [[nodiscard]] bool HasTooManyOdd(const Bytes& metric) const;
  Status CountAsOdd(std::unique_lock<std::mutex>* lock, const Bytes& metric, const OddFrom& odd);
  void Count(DirtyMarker* marker, bool counted);
  void SetOdd(DirtyMarker* marker, Odd odd);
  void Erase(std::map<MetricHour, DirtyMarker>::iterator at);
  /// Returns whether the marker prevents retention from deleting raw points.
  [[nodiscard]] static bool KeepsPoints(const DirtyMarker& marker) {
    return marker.state != DirtyMarker::State::kThere || marker.writers > 0 ||
           marker.odd != Odd::kExtras;
  }
  // Callers of the following functions must hold mutex_.
  [[nodiscard]] KeptRollups KeptOf(ByteView metric) const;
  [[nodiscard]] uint32_t KeptBeforeLocked(ByteView metric) const;

  Store& store_;
  RollupStateRows table_;
  // The same table as table_. If the store has a log, writes with this object return before they
  // are durable (Store::CommittedLater).
  RollupStateRows later_;
  const std::vector<const codec::RollupLevel*> levels_;
  const RollupMaking making_;
  const size_t markers_max_;

  mutable std::mutex mutex_;
  std::condition_variable
      settled_;  // signals changes of the state of a marker, of unmarked_ and of keeping_
  // The following members are guarded by mutex_.
  std::optional<uint32_t> start_;
  bool complete_ = false;
  uint32_t horizon_ = 0;
  /// The time up to which each level is complete, by name of the level.
  std::map<std::string, uint32_t> whole_;
  std::set<Bytes, std::less<>> filled_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  std::map<Bytes, OddFrom, std::less<>> odd_from_;
  std::optional<MetricHour>
      // The metric and the hour for which KeepBefore is running; nullopt if it is not running.
      // Changes of earlier hours of this metric wait for its end, because only then it is known
      // whether they must set markers.
      keeping_;
  std::map<MetricHour, DirtyMarker> markers_;
  // Markers that Forget has cleared. Discard frees them on the thread of the rollup maker, because
  // Forget may run on a network loop.
  std::map<MetricHour, DirtyMarker> forgotten_;
  // Number of markers that do not count towards kMarkersMax: the markers of odd hours, and those
  // set by earlier processes.
  size_t uncounted_markers_ = 0;
  uint64_t times_forgotten_ = 0;
  // Number of running writes, by hour, that set no marker. When these writes began, their hour was
  // not before the horizon. When the state is cleared, all running writes move to this map.
  std::map<MetricHour, uint32_t> unmarked_;
};

}  // namespace hg::tsd
