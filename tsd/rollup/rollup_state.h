#pragma once
// What is known, durably, of the rollups that this process makes (docs/rollups.md): up to where
// they are whole, and which hours of which metrics have changed since. The one rule: whenever a
// level says that an interval is whole, and no mark says that one of its hours changed, its cells
// are what the raw points come to. So a mark is in the log before the change that it is for, and
// goes after the cells were made anew, if nothing changed meanwhile.

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

#include "query/rolled_hours.h"
#include "storage/base/status.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_making.h"
#include "tsd/rollup/rollup_state_table.h"

namespace hg::tsd {

/// Of an hour that rollups do not tell all of, however often they are made.
enum class Odd : uint8_t {
  kNo,
  kExtras,      // there are annotations, NaNs or infinities; the rollups are those of its numbers
  kUnreadable,  // there are no rollups, as its points cannot be read
};

/// Thread-safe.
class RollupState : public ChangeListener, public query::RolledHoursSource {
 public:
  /// Marks of changes since the process began at most, some hundred bytes each: with more, making
  /// all rollups anew is the shorter way, and what is known of them is forgotten.
  static constexpr size_t kMarksMax = 500'000;
  /// Where there are as many of odd hours, a metric with so many of them leaves no more: all its
  /// hours count as odd from the next one's day on.
  static constexpr size_t kOddOfMetric = 96;

  /// Reads what the table holds, which exists. The store and the levels outlive it. Where the
  /// levels, or what their cells are made with, are not those that it tells of, all must be made
  /// anew. InvalidArgument: a level's table holds rollups of others, or those of another interval.
  static Result<std::shared_ptr<RollupState>> Open(Store& store, const std::string& table,
                                                   std::vector<const codec::RollupLevel*> levels,
                                                   const RollupMaking& making,
                                                   size_t marks_max = kMarksMax);
  /// Whoever writes to a store without a RollupState tells those that come.
  static Status TellMissed(Store& store, const std::string& table) {
    return RollupStateRows(store, table).TellMissed();
  }

  Status BeforeChange(const ChangedRows& rows) override;
  void AfterChange(const ChangedRows& rows) override;
  query::RolledHours Of(ByteView metric, const RowRange& rows) override;

  // Of the one who makes the rollups; one thread.

  [[nodiscard]] const std::vector<const codec::RollupLevel*>& levels() const { return levels_; }
  /// Rollups are made from here on as time goes by, and before it metric by metric. None: nobody
  /// has begun, or all must be made anew.
  [[nodiscard]] std::optional<uint32_t> start() const;
  /// Forgets all but what is kept (KeepBefore), and begins. A multiple of every interval.
  Status Begin(uint32_t start);
  /// 0 where start is none.
  [[nodiscard]] uint32_t WholeUpTo(const codec::RollupLevel& level) const;
  /// 0: nothing to be told of.
  [[nodiscard]] uint32_t horizon() const;
  /// Changes of hours below leave marks from now on. Waits for those that left none and are under
  /// way; those that are not told of at all are the caller's business (WatchedPoints).
  void RaiseHorizon(uint32_t base);
  /// The intervals up to there have their cells. `marked`: hours that have not, by metric.
  Status Advance(const std::vector<const codec::RollupLevel*>& levels, uint32_t to);
  /// Leaves a mark that no change asked for: rollups do not tell all of the hour (odd is not kNo),
  /// and trying again is of no use until it changes.
  Status MarkOdd(const Bytes& metric, uint32_t base, Odd odd);
  /// The hour counts as odd without a mark, until all is made anew.
  [[nodiscard]] bool CountsAsOdd(const Bytes& metric, uint32_t base) const;

  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool Filled(const Bytes& metric) const;
  Status SetFilled(const Bytes& metric);
  /// Every metric is: those which are not known yet have no points before the start but for late
  /// ones.
  Status SetComplete();

  struct Marked {
    Bytes metric;
    uint32_t base = 0;
    uint64_t changes = 0;  // to be given back
  };
  /// Marks that nobody writes under and that are worth a try, at most `most`; ordered by metric and
  /// hour. Without those that are to `wait`; empty: none are.
  [[nodiscard]] std::vector<Marked> Repairable(
      size_t most, const std::function<bool(const MetricHour&)>& wait = {}) const;
  /// The hour's cells were made anew since Repairable gave it. False: it changed meanwhile, and the
  /// mark stays.
  Result<bool> Unmark(const Marked& mark);
  /// They do not tell all: `odd` is not kNo.
  void GiveUp(const Marked& mark, Odd odd);
  [[nodiscard]] size_t marks() const;

  /// Of whom deletes raw points for their age: before what he may, at most `wanted`, so that
  /// rollups stay; from then on they are not made anew before that, nor are annotations, NaNs and
  /// infinities told of, which go with the points. From the day of an hour on that changed, or
  /// cannot be read, raw points stay. 0: nothing.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);
  [[nodiscard]] uint32_t KeptBefore(const Bytes& metric) const;

 private:
  struct Mark {
    enum class State : uint8_t { kPutting, kThere, kRemoving };
    State state = State::kPutting;
    Odd odd = Odd::kNo;
    bool counted = true;   // among those that are too many at some time
    uint32_t writers = 0;  // between BeforeChange and AfterChange
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
  /// `known`: interval by table.
  Status CheckTable(const codec::RollupLevel& level,
                    const std::map<std::string, uint32_t>& known) const;
  /// In memory; with mutex_ held.
  void Forget();
  [[nodiscard]] Bytes Place(const codec::RollupLevel& level) const {
    return PlaceOf(level, making_);
  }
  // rollup_marks.cc. With mutex_ held; those that take the lock let go of it meanwhile.
  /// Until whatever is being kept of the metric is not the key's hour.
  void WaitWhileKeeping(std::unique_lock<std::mutex>* lock, const MetricHour& key);
  /// The mark is there when it returns. nullptr: it was waited, or all was forgotten, and anything
  /// may hold by now; to be tried again.
  Result<Mark*> Leave(std::unique_lock<std::mutex>* lock, const MetricHour& key, bool of_change);
  [[nodiscard]] bool HasTooManyOdd(const Bytes& metric) const;
  Status CountAsOdd(std::unique_lock<std::mutex>* lock, const Bytes& metric, const OddFrom& odd);
  void Count(Mark* mark, bool counted);
  void SetOdd(Mark* mark, Odd odd);
  void Erase(std::map<MetricHour, Mark>::iterator at);
  /// The mark keeps raw points from being deleted for their age.
  [[nodiscard]] static bool KeepsPoints(const Mark& mark) {
    return mark.state != Mark::State::kThere || mark.writers > 0 || mark.odd != Odd::kExtras;
  }
  // With mutex_ held.
  [[nodiscard]] KeptRollups KeptOf(ByteView metric) const;
  [[nodiscard]] uint32_t KeptBeforeLocked(ByteView metric) const;

  Store& store_;
  RollupStateRows table_;
  const std::vector<const codec::RollupLevel*> levels_;
  const RollupMaking making_;
  const size_t marks_max_;

  mutable std::mutex mutex_;
  std::condition_variable settled_;  // a mark's state, a write without a mark, keeping_
  // Guarded by mutex_.
  std::optional<uint32_t> start_;
  bool complete_ = false;
  uint32_t horizon_ = 0;
  std::map<std::string, uint32_t> whole_;  // by level's name
  std::set<Bytes, std::less<>> filled_;
  std::map<Bytes, KeptRollups, std::less<>> kept_;
  std::map<Bytes, OddFrom, std::less<>> odd_from_;
  std::optional<MetricHour> keeping_;  // below it changes wait: whether they leave marks is open
  std::map<MetricHour, Mark> marks_;
  size_t uncounted_marks_ = 0;  // of them: of odd hours, and those of processes before
  uint64_t times_forgotten_ = 0;
  std::map<MetricHour, uint32_t> unmarked_;  // writes under way above the horizon
};

}  // namespace hg::tsd
