#pragma once
// What is known, durably, of the rollups that this process makes (docs/rollups.md): up to where
// they are whole, and which hours of which metrics have changed since. The one rule: whenever a
// level says that an interval is whole, and no mark says that one of its hours changed, its cells
// are what the raw points come to. So a mark is in the log before the change that it is for, and
// goes after the cells were made anew, if nothing changed meanwhile.
//
// Table of the state, family "t":
//   "complete"                       c → 1: metrics of before the start are filled
//   "filled" ‖ metric                f → 1: until then, those which are
//   "level" ‖ name                   w → u32: whole up to there;  i → how its cells are made
//   "table" ‖ name                   i → u32: rollups of this interval, of our own making
//   "mark" ‖ metric ‖ day u32        hour u32 → 1
//   "start"                          s → u32: filled hour by hour from there on
//   "kept" ‖ metric                  k → u32: before it raw points may be gone;  "l" ‖ where its
//                                    cells stand → u32: a level that has them, from there on
//   "missed"                         m → 1: the store was written to without this watching

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/rolled_hours.h"
#include "storage/base/status.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

/// What cells are made with.
struct RollupMaking {
  RollupIds ids;
  ReconcileOptions reconcile;
};

/// Thread-safe.
class RollupState : public ChangeListener, public query::RolledHoursSource {
 public:
  /// Marks of changes at most, some hundred bytes each: with more, making all rollups anew is the
  /// shorter way, and what is known of them is forgotten.
  static constexpr size_t kMarksMax = 500'000;

  /// Reads what the table holds, which exists. The store and the levels outlive it. Where the
  /// levels, or what their cells are made with, are not those that it tells of, all must be made
  /// anew. InvalidArgument: a level's table holds rollups of others, or those of another interval.
  static Result<std::shared_ptr<RollupState>> Open(Store& store, const std::string& table,
                                                   std::vector<const codec::RollupLevel*> levels,
                                                   const RollupMaking& making,
                                                   size_t marks_max = kMarksMax);
  /// Whoever writes to a store without a RollupState tells those that come.
  static Status TellMissed(Store& store, const std::string& table);

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
  /// Leaves a mark that no change asked for: rollups do not tell all of the hour, and trying again
  /// is of no use until it changes.
  Status MarkOdd(const Bytes& metric, uint32_t base);

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
  /// hour.
  [[nodiscard]] std::vector<Marked> Repairable(size_t most) const;
  /// The hour's cells were made anew since Repairable gave it. False: it changed meanwhile, and the
  /// mark stays.
  Result<bool> Unmark(const Marked& mark);
  /// They do not tell all.
  void GiveUp(const Marked& mark);
  [[nodiscard]] size_t marks() const;

  /// Of whom deletes raw points for their age: before what he may, at most `wanted`, so that
  /// rollups stay; from then on they are not made anew before that. Where a mark is, and be it of
  /// an odd hour, raw points tell more than rollups, and stay from there on. 0: nothing.
  Result<uint32_t> KeepBefore(const Bytes& metric, uint32_t wanted);
  [[nodiscard]] uint32_t KeptBefore(const Bytes& metric) const;

 private:
  using Key = std::pair<Bytes, uint32_t>;  // metric, hour
  struct Mark {
    enum class State : uint8_t { kPutting, kThere, kRemoving };
    State state = State::kPutting;
    bool odd = false;
    uint32_t writers = 0;  // between BeforeChange and AfterChange
    uint64_t changes = 0;
  };

  /// Up to where raw points may be gone, and from where on levels are whole up to there.
  struct Kept {
    uint32_t before = 0;
    std::map<Bytes, uint32_t> begins;  // by Place
  };

  RollupState(Store& store, std::string table, std::vector<const codec::RollupLevel*> levels,
              const RollupMaking& making, size_t marks_max)
      : store_(store),
        table_(std::move(table)),
        levels_(std::move(levels)),
        making_(making),
        marks_max_(marks_max) {}

  Status Load();
  Status Take(const Row& row);
  /// `known`: interval by table.
  Status CheckTable(const codec::RollupLevel& level,
                    const std::map<std::string, uint32_t>& known) const;
  /// Where a level's cells stand and how they are numbered; how they are made.
  [[nodiscard]] Bytes Place(const codec::RollupLevel& level) const;
  [[nodiscard]] Bytes Made(const codec::RollupLevel& level) const;
  /// In memory; with mutex_ held.
  void Forget();
  /// In the table.
  Status Clean();
  Status Put(const Bytes& key, const Bytes& qualifier, Bytes value);
  [[nodiscard]] Bytes MarkKey(const Key& key) const;
  Status PutMark(const Key& key);
  Status DropMark(const Key& key);
  /// With mutex_ held by `lock`. The mark is there when it returns; nullptr: all was forgotten.
  Result<Mark*> Leave(std::unique_lock<std::mutex>* lock, const Key& key, bool of_change);
  /// With mutex_ held.
  void SetOdd(Mark* mark, bool odd);
  [[nodiscard]] uint32_t KeptLocked(ByteView metric) const;
  /// From where on the level has what is kept of the metric.
  [[nodiscard]] uint32_t KeptFrom(ByteView metric, const codec::RollupLevel& level) const;

  Store& store_;
  const std::string table_;
  const std::vector<const codec::RollupLevel*> levels_;
  const RollupMaking making_;
  const size_t marks_max_;

  mutable std::mutex mutex_;
  std::condition_variable settled_;  // a mark's state, or a write without a mark
  // Guarded by mutex_.
  std::optional<uint32_t> start_;
  bool complete_ = false;
  uint32_t horizon_ = 0;
  std::map<std::string, uint32_t> whole_;  // by level's name
  std::set<Bytes, std::less<>> filled_;
  std::map<Bytes, Kept, std::less<>> kept_;
  std::map<Key, Mark> marks_;
  size_t odd_marks_ = 0;  // of them
  uint64_t times_forgotten_ = 0;
  std::map<Key, uint32_t> unmarked_;  // writes under way above the horizon
};

}  // namespace hg::tsd
