#pragma once
// Fills the rollup tables from raw points in the background (docs/rollups.md). It processes new
// data hour by hour and older data metric by metric, and recomputes changed hours.

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
  int64_t delay_s = 600;  // time to wait for late points after an interval has ended
  // Share of the time of one core that the work may use; 1 means that it never pauses.
  double busy_share = 0.25;
  /// Called with log messages about progress and failures. The function may be empty.
  std::function<void(const std::string&)> report = {};
};

struct RollupStats {
  uint64_t rows_written = 0;
  // Number of dirty markers that were removed after their hours were recomputed.
  uint64_t repaired = 0;
  uint64_t failures = 0;  // number of rounds that failed
  uint64_t markers = 0;
  // The delay of the slowest level in seconds, without the length of that level's interval.
  int64_t lag_s = 0;
  uint64_t metrics_left = 0;  // number of known metrics whose older points are not filled yet
};

/// Thread-safe. Rounds never overlap.
class RollupMaker {
 public:
  /// The references must outlive the object.
  RollupMaker(Points& points, WatchedPoints& watched, Store& store, RollupState& state,
              const Clock& clock, RollupMakerOptions options);
  /// Calls Stop.
  ~RollupMaker() { Stop(); }

  /// Starts a thread that runs rounds. It reports failures to RollupMakerOptions::report.
  void Start();
  /// Ends the thread, even in the middle of a round. Idempotent.
  void Stop();
  /// Does all work that is due: finished intervals, changed hours, and older data that is not
  /// filled yet. Recomputes at most kMarkersPerRound changed hours. Late points may arrive all the
  /// time, so a day of a metric is recomputed again only after a pause that is nine times as long
  /// as its previous recomputation took. Returns errors of the store; the next round then repeats
  /// the work. Unavailable: Stop was called. Unsupported: the table of points has a TTL.
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
  Result<std::set<Bytes>> Metrics();
  /// Fills the span. Sets dirty markers for the hours whose rollups cannot represent all data.
  Status FillOrMark(const Bytes& metric, const RollupSpan& span, const Levels& levels);
  Status MarkOdd(const Bytes& metric, const OddHours& odd);
  /// Returns the time up to which intervals of length `step` that begin at `whole` or later can be
  /// computed now. Returns `whole` if none of these intervals is over.
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
  // The levels, by interval in seconds. Levels with intervals shorter than an hour have the key of
  // one hour.
  std::map<uint32_t, Levels> by_step_;
  uint32_t days_at_once_ = 1;
  RollupFill fill_;

  // The following members are used only by the thread that runs a round.
  int64_t resumed_ns_ = 0;     // time when work continued after the last pause
  int64_t repaired_ns_ = 0;    // time when changed hours were last recomputed
  bool markers_left_ = false;  // whether dirty markers remained at repaired_ns_
  /// For each day of a metric that was recomputed: the earliest time of the next recomputation.
  std::map<std::pair<Bytes, uint32_t>, int64_t> resting_;
  std::set<Bytes> told_odd_;  // metrics whose odd hours were already reported
  std::atomic<uint64_t> repaired_{0}, failures_{0}, metrics_left_{0};

  // Stop sets stopped_ while it holds mutex_, so that a thread that waits for stop_ with mutex_
  // cannot miss the signal. mutex_ guards nothing else.
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread worker_;
};

}  // namespace hg::tsd
