#pragma once
// Fills the rollup tables from raw points, in the background (docs/rollups.md): hour by hour as
// time goes by, metric by metric what was there before, and anew what has changed.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_fill.h"
#include "tsd/rollup/rollup_state.h"

namespace hg::tsd {

struct RollupMakerOptions {
  RollupIds ids;
  ReconcileOptions reconcile;
  int64_t delay_s = 600;     // after an interval's end, for points that come a little late
  double busy_share = 0.25;  // of one core; 1: no pauses
  /// Told how it goes, and what failed. Empty: nobody.
  std::function<void(const std::string&)> report = {};
};

struct RollupStats {
  uint64_t rows_written = 0;
  uint64_t repaired = 0;  // marks that went
  uint64_t failures = 0;  // rounds that did not come to their end
  uint64_t marks = 0;
  int64_t lag_s = 0;          // of the level that is behind most, beyond its interval
  uint64_t metrics_left = 0;  // whose older points are not filled yet, as far as known
};

/// Thread-safe; one round at a time.
class RollupMaker {
 public:
  /// The references outlive it.
  RollupMaker(Points& points, WatchedPoints& watched, Store& store, RollupState& state,
              const Clock& clock, RollupMakerOptions options);
  /// Stops.
  ~RollupMaker() { Stop(); }

  /// Starts a thread that makes rounds. Failures are reported.
  void Start();
  /// Ends it, in the middle of a round if need be. Idempotent.
  void Stop();
  /// Does what is due: intervals that are over, changed hours (kMarksPerRound at most, and no day
  /// of a metric again before it has rested for nine times as long as it took: points may come late
  /// all the time), and what is left of the past. Fails as storage does, to be tried again.
  /// Unavailable: stopped. Unsupported: rows of points expire by themselves.
  Status Round();
  [[nodiscard]] RollupStats Stats() const;

  static constexpr size_t kMarksPerRound = 4096;

 private:
  using Levels = RollupFill::Levels;

  void Work();
  void Report(const std::string& text) const {
    if (options_.report) options_.report(text);
  }
  Status Pause();
  [[nodiscard]] int64_t now_s() const { return clock_.NowMs() / 1000; }
  void Raise(uint32_t horizon);
  Result<std::set<Bytes>> Metrics();
  /// Fills, and leaves marks where there can be no rollups.
  Status FillOrMark(const Bytes& metric, const RollupSpan& span, const Levels& levels);
  Status MarkOdd(const Bytes& metric, const OddHours& odd);
  /// Up to where the intervals of that step behind `whole` are made now; `whole`: none is over.
  [[nodiscard]] uint32_t NextStop(uint32_t whole, uint32_t step) const;
  Status GoForward();
  Status Repair();
  Status RepairDay(const std::vector<RollupState::Marked>& marks);
  Status FillPast();
  Status FillMetric(const Bytes& metric, uint32_t end);
  Result<bool> HasPoints(const Bytes& metric, const RollupSpan& span);

  Points& points_;
  WatchedPoints& watched_;
  RollupState& state_;
  const Clock& clock_;
  const RollupMakerOptions options_;
  std::map<uint32_t, Levels> by_step_;  // an hour, or the interval where that is longer
  uint32_t days_at_once_ = 1;
  RollupFill fill_;

  // Of the thread that makes a round.
  int64_t resumed_ns_ = 0;   // work, after a pause
  int64_t repaired_ns_ = 0;  // marks, the last time
  bool marks_left_ = false;  // then
  /// Days (by number) of metrics that were made anew: until when they are not again.
  std::map<std::pair<Bytes, uint32_t>, int64_t> resting_;
  std::set<Bytes> told_odd_;  // metrics
  std::atomic<uint64_t> repaired_{0}, failures_{0}, metrics_left_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread worker_;
};

}  // namespace hg::tsd
