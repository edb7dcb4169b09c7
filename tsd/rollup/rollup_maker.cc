#include "tsd/rollup/rollup_maker.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "storage/base/survive.h"
#include "storage/model/timestamp.h"
#include "tsd/rollup/rollup_fill.h"

namespace hg::tsd {
namespace {

constexpr uint32_t kYear = 366 * kDayS;
constexpr auto kBetweenRounds = std::chrono::seconds(10);
/// Minimum time in ns between two repairs of changed hours while older data is filled.
constexpr int64_t kRepairIntervalNs = 10'000'000'000;
constexpr int kNice = 10;
/// After a day was recomputed, it is not recomputed again for this multiple of the time that the
/// computation took.
constexpr int64_t kRest = 9;
/// Maximum number of intervals of one series in memory if several days are processed together.
constexpr uint32_t kIntervalsAtOnce = 1024;

}  // namespace

RollupMaker::RollupMaker(Points& points, WatchedPoints& watched, Store& store, RollupState& state,
                         const Clock& clock, RollupMakerOptions options)
    : points_(points),
      watched_(watched),
      state_(state),
      clock_(clock),
      options_(options),
      fill_(
          points, store, options.ids, options.reconcile, [this] { return Pause(); }, until_stop_) {
  uint32_t finest_s = kDayS;
  for (const codec::RollupLevel* level : state.levels()) {
    by_step_[std::max(kRowSpan, level->interval.interval_s)].push_back(level);
    finest_s = std::min(finest_s, level->interval.interval_s);
  }
  days_at_once_ = std::clamp(finest_s * kIntervalsAtOnce / kDayS, 1U, 32U);
}

void RollupMaker::Start() {
  worker_ = std::thread([this] { Work(); });
}

void RollupMaker::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    stop_.notify_all();
  }
  if (worker_.joinable()) worker_.join();
}

void RollupMaker::Work() {
  setpriority(PRIO_PROCESS, 0, kNice);  // lowers the priority of this thread only
  Status last;
  while (!stopped_) {
    const Status round = Survive([this] { return Round(); });
    if (stopped_) return;
    if (!round.ok()) {
      ++failures_;
      if (round.message() != last.message())
        (void)Survive([&] { Report(round.ToString() + "; trying again"); });
    }
    last = round;
    if (round.ok() && markers_left_) continue;
    std::unique_lock lock(mutex_);
    stop_.wait_for(lock, kBetweenRounds, [this] { return stopped_.load(); });
  }
}

Status RollupMaker::Pause() {
  if (options_.busy_share < 1) {
    constexpr int64_t kPauseMaxNs = 60'000'000'000;
    const int64_t busy_ns = std::max<int64_t>(0, clock_.MonotonicNs() - resumed_ns_);
    const auto rest_ns =
        static_cast<int64_t>(static_cast<double>(busy_ns) * (1 / options_.busy_share - 1));
    std::unique_lock lock(mutex_);
    stop_.wait_for(lock, std::chrono::nanoseconds(std::min(rest_ns, kPauseMaxNs)),
                   [this] { return stopped_.load(); });
  }
  resumed_ns_ = clock_.MonotonicNs();
  return stopped_ ? Status::Unavailable("stopping") : Status();
}

// The order of the calls matters: state_ must set markers for changes below the horizon before
// watched_ begins to report all these changes.
void RollupMaker::Raise(uint32_t horizon) {
  state_.RaiseHorizon(horizon);
  watched_.RaiseHorizon(horizon);
}

Status RollupMaker::Round() {
  resumed_ns_ = clock_.MonotonicNs();
  if (stopped_) return Status::Unavailable("stopping");
  if (watched_.RowsExpire()) {
    // The TTL may be new. Existing rollups would show points that have expired.
    if (state_.start()) RETURN_IF_ERROR(state_.Discard());
    return Status::Unsupported(
        "no rollups are computed, because the table of points has a TTL and points expire without "
        "notice. Use tsd.retention.config instead of the TTL");
  }
  if (!state_.start()) {
    const auto start = static_cast<uint32_t>(now_s() - now_s() % kDayS);
    // All cells except kept ones are deleted first, so that no cells remain whose points do not
    // exist any more.
    for (const codec::RollupLevel* level : state_.levels()) {
      RETURN_IF_ERROR(
          fill_.Clear(*level, [this](const Bytes& metric) { return state_.KeptBefore(metric); }));
    }
    RETURN_IF_ERROR(state_.Begin(start));
    Raise(start);
    Report("rollups are computed from now on, and for older points metric by metric");
  }
  RETURN_IF_ERROR(GoForward());
  RETURN_IF_ERROR(Repair());
  return FillPast();
}

Status RollupMaker::FillOrMark(const Bytes& metric, const RollupSpan& span, const Levels& levels) {
  const uint32_t kept = state_.KeptBefore(metric);  // end of the days whose rollups are final
  if (span.end_s <= kept) return {};
  OddHours odd;
  RETURN_IF_ERROR(fill_.Fill(metric, {std::max(span.begin_s, kept), span.end_s}, levels, &odd));
  return MarkOdd(metric, odd);
}

Status RollupMaker::MarkOdd(const Bytes& metric, const OddHours& odd) {
  if (!odd.empty() && told_odd_.insert(metric).second) {
    const auto unreadable = std::find_if(odd.begin(), odd.end(), [](const auto& hour) {
      return hour.second.odd == Odd::kUnreadable;
    });
    const auto& [hour, first] = unreadable != odd.end() ? *unreadable : *odd.begin();
    std::string text = "metric " + ToHexUpper(metric) +
                       " is read from raw points in hours that rollups cannot "
                       "represent";
    if (first.odd == Odd::kUnreadable)
      text += ". From the first hour whose points cannot be read, no old points are deleted";
    Report(text + ". For example, the hour " + std::to_string(hour) + ": " + first.why);
  }
  for (const auto& [hour, what] : odd) {
    const bool counted = state_.CountsAsOdd(metric, hour);
    RETURN_IF_ERROR(state_.MarkOdd(metric, hour, what.odd));
    if (counted || !state_.CountsAsOdd(metric, hour)) continue;
    Report("metric " + ToHexUpper(metric) +
           " has too many hours that rollups cannot represent to record each of them. From the day "
           "of " +
           std::to_string(hour) +
           " on, queries read raw points until all rollups are computed again");
  }
  return {};
}

// Returns the end of the next step. After a long stop, or if the clock was years behind, many
// intervals must be computed. A step then covers whole days.
uint32_t RollupMaker::NextStop(uint32_t whole, uint32_t step) const {
  const int64_t over_s = now_s() - options_.delay_s - whole;
  if (over_s < step) return whole;
  if (whole % kDayS != 0 || over_s < kDayS) return whole + step;
  return whole + std::min(static_cast<uint32_t>(over_s / kDayS), days_at_once_) * kDayS;
}

Status RollupMaker::GoForward() {
  for (const auto& [step, levels] : by_step_) {
    for (;;) {
      if (!state_.start()) return {};  // the state was discarded; the next round begins again
      const uint32_t whole = state_.WholeUpTo(*levels.front());
      const RollupSpan span{whole, NextStop(whole, step)};
      if (span.end_s == whole) break;
      Raise(span.end_s);
      ASSIGN_OR_RETURN(const std::vector<Bytes> metrics, points_.ListMetrics(&until_stop_));
      for (const Bytes& metric : metrics) RETURN_IF_ERROR(FillOrMark(metric, span, levels));
      RETURN_IF_ERROR(state_.Advance(levels, span.end_s));
    }
  }
  return {};
}

Status RollupMaker::Repair() {
  repaired_ns_ = clock_.MonotonicNs();
  std::erase_if(resting_, [this](const auto& day) { return day.second <= repaired_ns_; });
  const auto rests = [this](const MetricHour& hour) {
    return !resting_.empty() && resting_.contains({hour.first, hour.second / kDayS});
  };
  const std::vector<RollupState::DirtyHour> markers = state_.Repairable(kMarkersPerRound, rests);
  markers_left_ = markers.size() == kMarkersPerRound;
  std::vector<RollupState::DirtyHour> day;
  for (size_t i = 0; i < markers.size(); ++i) {
    day.push_back(markers[i]);
    if (i + 1 < markers.size() && markers[i + 1].metric == markers[i].metric &&
        markers[i + 1].base / kDayS == markers[i].base / kDayS)
      continue;
    const int64_t begun_ns = clock_.MonotonicNs();
    RETURN_IF_ERROR(RepairDay(day));
    const int64_t now_ns = clock_.MonotonicNs();
    resting_[{markers[i].metric, markers[i].base / kDayS}] = now_ns + kRest * (now_ns - begun_ns);
    day.clear();
  }
  return {};
}

Status RollupMaker::RepairDay(const std::vector<RollupState::DirtyHour>& markers) {
  const Bytes& metric = markers.front().metric;
  OddHours odd;
  const uint32_t kept = state_.KeptBefore(metric);
  for (const auto& [step, levels] : by_step_) {
    const uint32_t whole = state_.WholeUpTo(*levels.front());
    uint32_t done = 0;
    for (const RollupState::DirtyHour& marker : markers) {
      const RollupSpan span{marker.base - marker.base % step,
                            marker.base - marker.base % step + step};
      if (span.end_s > whole || span.end_s <= done || span.begin_s < kept)
        continue;  // computed later, when the interval is over
      done = span.end_s;
      RETURN_IF_ERROR(fill_.Fill(metric, span, levels, &odd));
    }
  }
  RETURN_IF_ERROR(MarkOdd(metric, odd));
  for (const RollupState::DirtyHour& marker : markers) {
    const auto known = odd.find(marker.base);
    if (known != odd.end() && !state_.CountsAsOdd(metric, marker.base)) {
      state_.GiveUp(marker, known->second.odd);
      continue;
    }
    ASSIGN_OR_RETURN(const bool gone, state_.Unmark(marker));
    repaired_ += gone ? 1 : 0;
  }
  return {};
}

Status RollupMaker::FillPast() {
  const std::optional<uint32_t> end = state_.start();
  if (state_.complete() || !end) return {};
  ASSIGN_OR_RETURN(std::vector<Bytes> metrics, points_.ListMetrics(&until_stop_));
  std::erase_if(metrics, [this](const Bytes& metric) { return state_.Filled(metric); });
  metrics_left_ = metrics.size();
  for (const Bytes& metric : metrics) {
    RETURN_IF_ERROR(FillMetric(metric, *end));
    if (!state_.start()) return {};
    RETURN_IF_ERROR(state_.SetFilled(metric));
    --metrics_left_;
  }
  RETURN_IF_ERROR(state_.SetComplete());
  Report("the rollups of all older points are complete: " + std::to_string(fill_.rows_written()) +
         " rows were written since the start");
  return {};
}

// Retention may have deleted points before state_.KeptBefore(metric), so rollups are computed only
// from that time on.
Status RollupMaker::FillMetric(const Bytes& metric, uint32_t end) {
  Levels levels;
  for (const auto& [step, of_step] : by_step_)
    levels.insert(levels.end(), of_step.begin(), of_step.end());
  for (uint32_t year = state_.KeptBefore(metric); year < end;) {
    const uint32_t year_end = end - year > kYear ? year + kYear : end;
    ASSIGN_OR_RETURN(const bool any, HasPoints(metric, {year, year_end}));
    for (uint32_t at = year; any && at < year_end;) {
      const uint32_t stop = std::min(year_end, at + days_at_once_ * kDayS);
      RETURN_IF_ERROR(FillOrMark(metric, {at, stop}, levels));
      RETURN_IF_ERROR(GoForward());
      if (clock_.MonotonicNs() - repaired_ns_ > kRepairIntervalNs) RETURN_IF_ERROR(Repair());
      if (!state_.start()) return {};
      at = stop;
    }
    year = year_end;
  }
  return {};
}

Result<bool> RollupMaker::HasPoints(const Bytes& metric, const RollupSpan& span) {
  PointScanSpec spec;
  spec.metric = metric;
  spec.rows = {span.begin_s, span.end_s};
  spec.statistics = true;
  spec.watch = &until_stop_;
  ASSIGN_OR_RETURN(const auto scan, points_.Scan(spec, options_.reconcile));
  RowHour row;
  Result<bool> any = scan->Next(&row);
  if (!any.ok() && IsOfData(any.status())) return true;
  return any;
}

RollupStats RollupMaker::Stats() const {
  RollupStats stats;
  stats.rows_written = fill_.rows_written();
  stats.repaired = repaired_;
  stats.failures = failures_;
  stats.markers = state_.markers();
  stats.metrics_left = metrics_left_;
  if (!state_.start()) return stats;
  for (const auto& [step, levels] : by_step_) {
    const int64_t due = now_s() - step;
    stats.lag_s = std::max<int64_t>(stats.lag_s, due - state_.WholeUpTo(*levels.front()));
  }
  return stats;
}

}  // namespace hg::tsd
