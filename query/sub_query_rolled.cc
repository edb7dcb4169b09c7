#include <algorithm>
#include <numeric>
#include <utility>

#include "query/rolled_scan.h"
#include "query/sub_query_run.h"

namespace hg::query {
namespace {

constexpr int64_t kWeekMs = 7 * 86'400'000;

/// Returns the longest time that divides the interval and at whose multiples in UTC the days of the
/// zone begin. Calendar buckets begin at these multiples. Clock changes that are reversed within a
/// week are not noticed here; ReadPieces handles them.
int64_t CommonStep(int64_t interval_s, const TimeZone& zone, int64_t begin_ms, int64_t end_ms) {
  for (int64_t at = begin_ms;; at += kWeekMs) {
    interval_s = std::gcd(interval_s, zone.OffsetAt(std::min(at, end_ms)) / 1000);
    if (at >= end_ms) return interval_s;
  }
}

}  // namespace

// Rollups are used only for functions that their cells can answer. Other functions, single values
// and deletes need raw points.
Status SubQueryRun::PlanPieces() {
  pieces_.clear();
  kept_before_s_.reset();
  RolledHoursSource* const source = context_.rolled;
  if (source == nullptr || !sub_.downsample || sub_.downsample->run_all || sub_.histograms ||
      sub_.values || context_.query.request.delete_rows || !TakesStatistics(*sub_.downsample) ||
      RollupUsageName(sub_.text.rollup_usage.value_or("")) == "ROLLUP_RAW")
    return {};
  int64_t interval_s = sub_.downsample->interval_ms() / 1000;
  if (sub_.downsample->interval_ms() % 1000 != 0) return {};
  if (sub_.downsample->calendar) {
    const int64_t end_s = std::min<int64_t>(window_.end_s, UINT32_MAX);
    constexpr uint64_t kWeekSteps = 8;  // of looking up the zone
    const int64_t weeks = (end_s * 1000 - window_.begin_ms()) / kWeekMs;
    RETURN_IF_ERROR(
        context_.watch.Step(kWeekSteps * static_cast<uint64_t>(std::max<int64_t>(weeks, 1))));
    interval_s = CommonStep(interval_s, sub_.downsample->zone, window_.begin_ms(), end_s * 1000);
  }
  const RolledHours rolled = source->Of(spec_.metric, spec_.rows);
  kept_before_s_ = rolled.kept_before_s;
  times_forgotten_ = rolled.times_forgotten;
  // The extra hour of the fuzzy row filter is read from raw points: single points of it may count,
  // which a rollup does not show.
  RowRange rows = spec_.rows;
  rows.end = std::clamp<uint64_t>(rows.end, rows.begin, static_cast<uint64_t>(window_.end_s));
  pieces_ = CoverHours(rolled, rows, interval_s);
  if (rows.end < spec_.rows.end)
    pieces_.push_back(
        {nullptr, static_cast<uint32_t>(rows.end), static_cast<uint32_t>(spec_.rows.end)});
  if (std::all_of(pieces_.begin(), pieces_.end(),
                  [](const HoursPiece& piece) { return piece.level == nullptr; }))
    pieces_.clear();
  return context_.watch.Step(pieces_.size());
}

void SubQueryRun::OpenPieces() {
  const RolledSources sources{&context_.cells, &context_.points, &*context_.options.rollups};
  scan_ = ScanPieces(sources, pieces_, spec_, context_.options.reconcile,
                     sub_.downsample->function->function);
}

bool SubQueryRun::KeptSincePlanned() const {
  if (!kept_before_s_) return false;
  const RowRange none = {spec_.rows.begin, spec_.rows.begin};
  const uint32_t now_s = context_.rolled->Of(spec_.metric, none).kept_before_s;
  return now_s != *kept_before_s_ && now_s > spec_.rows.begin;
}

// While pieces are read, retention may delete raw points that were planned to be read, or all
// rollups may be computed again. The sub-query is then planned and read again.
Result<bool> SubQueryRun::ReadPieces() {
  for (;;) {
    const std::unique_ptr<PointScan> scan = std::move(scan_);
    SeriesSet& set = AddSet();
    set.AllowAnyOrder();
    const Status read = ReadInto(scan.get(), &set);
    // The clocks of the zone changed within a week, which CommonStep does not notice.
    if (read.code() == StatusCode::kConflict) {
      sets_.clear();
      return false;
    }
    RETURN_IF_ERROR(read);
    const RolledHours now = context_.rolled->Of(spec_.metric, spec_.rows);
    if (now.kept_before_s == kept_before_s_ && now.times_forgotten == times_forgotten_) break;
    sets_.clear();
    RETURN_IF_ERROR(PlanPieces());
    if (pieces_.empty()) return false;
    OpenPieces();
  }
  uint32_t longest_s = 0;
  for (const HoursPiece& piece : pieces_) {
    if (piece.level == nullptr || piece.level->interval.interval_s <= longest_s) continue;
    longest_s = piece.level->interval.interval_s;
    info_.rollup_table = piece.level->name;
  }
  TakeSeries();
  return true;
}

}  // namespace hg::query
