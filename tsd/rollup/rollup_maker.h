#pragma once
// Fills the rollup tables from raw points in the background (docs/rollups.md). The rollup maker
// processes new data hour by hour, and older data metric by metric. It recomputes the rollups of
// hours that have changed.

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
#include "storage/base/until_stop.h"
#include "storage/points/points.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_fill.h"
#include "tsd/rollup/rollup_state.h"

namespace hg::tsd {

struct RollupMakerOptions {
  RollupIds ids;
  ReconcileOptions reconcile;
  int64_t delay_s = 600;  // time in seconds to wait for late points after the end of an interval
  // The share of the time of one core that the work may use; 1 means that the work never pauses.
  double busy_share = 0.25;
  /// Receives log messages about progress and failures. This member may be empty.
  std::function<void(const std::string&)> report = {};
};

struct RollupStats {
  uint64_t rows_written = 0;
  // Number of dirty markers that were removed after the rollups of their hours were recomputed.
  uint64_t repaired = 0;
  uint64_t failures = 0;  // number of calls of Round that have failed
  uint64_t markers = 0;
  // The time in seconds by which the rollups of the slowest level are behind the current time. The
  // length of one interval of the level, but at least an hour, is subtracted.
  int64_t lag_s = 0;
  uint64_t metrics_left = 0;  // number of known metrics whose older points have no rollups yet
};

/// The thread that fills rollup tables. The object is thread-safe. Rounds never overlap.
class RollupMaker {
 public:
  /// The references must outlive the object.
  RollupMaker(Points& points, WatchedPoints& watched, Store& store, RollupState& state,
              const Clock& clock, RollupMakerOptions options);
  /// Ends the thread, as Stop does.
  ~RollupMaker() { Stop(); }

  /// Starts a thread that calls Round again and again. The thread reports failures to
  /// RollupMakerOptions::report.
  void Start();
  /// Ends the thread, even in the middle of a round. Further calls of Stop have no effect.
  void Stop();
  /// Does all work that is due: intervals that have ended, hours that have changed, and older data
  /// without rollups. Recomputes at most kMarkersPerRound changed hours, and again as many from
  /// time to time while it processes older data. Late points may arrive all the time. Therefore, a
  /// day of a metric is recomputed again only after a pause that is nine times as long as the
  /// previous recomputation of this day took.
  ///
  /// Fails if the store reports an error; the next round then repeats the work. Unavailable: Stop
  /// was called. Unsupported: the table of points has a TTL.
  Status Round();
  [[nodiscard]] RollupStats Stats() const;

  static constexpr size_t kMarkersPerRound = 4096;

 private:
  using Levels = RollupFill::Levels;

  void Work();
  void Report(const std::string& text) const {
    if (options_.report) options_.report(text);
  }
  Status Pause();
  [[nodiscard]] int64_t now_s() const { return clock_.NowMs() / 1000; }
  void Raise(uint32_t horizon);
  /// Recomputes the rollups of the span. Sets dirty markers for the hours whose data cannot be
  /// represented completely by rollups.
  Status FillOrMark(const Bytes& metric, const RollupSpan& span, const Levels& levels);
  Status MarkOdd(const Bytes& metric, const OddHours& odd);
  /// Returns the end of the next intervals to compute. These intervals begin at `whole`, and `step`
  /// is the length of one interval. Usually, the result is the end of one interval. If at least a
  /// day is due, the result is the end of one or more whole days. Returns `whole` if the first
  /// interval cannot be computed yet.
  [[nodiscard]] uint32_t NextStop(uint32_t whole, uint32_t step) const;
  Status GoForward();
  Status Repair();
  Status RepairDay(const std::vector<RollupState::DirtyHour>& markers);
  Status FillPast();
  Status FillMetric(const Bytes& metric, uint32_t end);
  Result<bool> HasPoints(const Bytes& metric, const RollupSpan& span);

  Points& points_;
  WatchedPoints& watched_;
  RollupState& state_;
  const Clock& clock_;
  const RollupMakerOptions options_;
  // The levels by their interval in seconds. Levels with intervals shorter than an hour have the
  // key of one hour.
  std::map<uint32_t, Levels> by_step_;
  uint32_t days_at_once_ = 1;

  // Tells threads to stop. Stop sets stopped_ while it holds mutex_. A thread waits for stop_ with
  // mutex_, so it cannot miss the signal. mutex_ guards nothing else.
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable stop_;
  UntilStop until_stop_{stopped_};
  RollupFill fill_;

  // Only the thread that runs a round uses the following members.
  int64_t resumed_ns_ = 0;     // monotonic time of the end of the last pause
  int64_t repaired_ns_ = 0;    // monotonic time of the last recomputation of changed hours
  bool markers_left_ = false;  // whether dirty markers remained after the work at repaired_ns_
  /// Monotonic time in ns before which a day is not recomputed again. The key is a metric and the
  /// number of the day since 1970.
  std::map<std::pair<Bytes, uint32_t>, int64_t> resting_;
  std::set<Bytes> told_odd_;  // metrics for which an odd hour (OddHour) was already reported
  std::atomic<uint64_t> repaired_{0}, failures_{0}, metrics_left_{0};

  std::thread worker_;
};

}  // namespace hg::tsd
