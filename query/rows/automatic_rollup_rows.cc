#include "query/rows/automatic_rollup_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "query/plan/rollup.h"
#include "query/rows/automatic_rollup_scan.h"

namespace hg::query {
namespace {

constexpr int64_t kWeekMs = 7 * 86'400'000;
// If rollups and raw points alternate in so many pieces, a query reads raw points only, unless the
// raw points of some rollups were deleted. Each piece is a scan of its own.
constexpr size_t kPiecesMax = 4096;

/// Returns the longest time that divides the interval and whose multiples in UTC include the
/// beginnings of all days in the zone. Calendar buckets begin at these multiples. This function
/// does not notice clock changes that are reversed within a week. Read then fails with Conflict.
int64_t CommonStep(int64_t interval_s, const TimeZone& zone, int64_t begin_ms, int64_t end_ms) {
  for (int64_t at = begin_ms;; at += kWeekMs) {
    interval_s = std::gcd(interval_s, zone.OffsetAt(std::min(at, end_ms)) / 1000);
    if (at >= end_ms) return interval_s;
  }
}

class PiecesSource : public RowSource {
 public:
  PiecesSource(SubQueryPlan* plan, std::vector<HoursPiece> pieces)
      : plan_(*plan), pieces_(std::move(pieces)) {
    const RunContext& context = plan_.context;
    const RolledSources sources{&context.cells, &context.points, &*context.options.rollups};
    scan_ = ScanPieces(sources, pieces_, plan_.spec, context.options.reconcile,
                       plan_.sub.downsample->function->function);
  }

  [[nodiscard]] uint64_t RowsExpected() const override { return scan_->RowsExpected(); }

  // Returns Conflict if the clocks of the zone changed twice within a week, which CommonStep does
  // not notice.
  Status Read(SeriesRead* out) override {
    SeriesSet& set = AddSet(&plan_, &*plan_.grid, out);
    set.AllowAnyOrder();
    return ReadInto(plan_, scan_.get(), &set, out);
  }

  Status Finish(SeriesRead* out) override {
    uint32_t longest_s = 0;
    for (const HoursPiece& piece : pieces_) {
      if (piece.level == nullptr || piece.level->interval.interval_s <= longest_s) continue;
      longest_s = piece.level->interval.interval_s;
      out->info.rollup_table = piece.level->name;
    }
    return RowSource::Finish(out);
  }

  [[nodiscard]] std::optional<RowSourceKind> fallback() const override {
    return RowSourceKind::kExtremes;
  }

 private:
  SubQueryPlan& plan_;
  const std::vector<HoursPiece> pieces_;
  std::unique_ptr<PointScan> scan_;
};

}  // namespace

// Rollups are used only for functions that can be computed from their cells. Other functions,
// single values and deletes need raw points.
Result<std::unique_ptr<RowSource>> AutomaticRollups::Open() {
  kept_before_s_.reset();
  const RunContext& context = plan_.context;
  const ValidSubQuery& sub = plan_.sub;
  if (context.rolled == nullptr || !sub.downsample || sub.downsample->run_all || sub.histograms ||
      sub.values || context.query.request.delete_rows || !TakesStatistics(*sub.downsample) ||
      RollupUsageName(sub.text.rollup_usage.value_or("")) == "ROLLUP_RAW")
    return std::unique_ptr<RowSource>();
  int64_t interval_s = sub.downsample->interval_ms() / 1000;
  if (sub.downsample->interval_ms() % 1000 != 0) return std::unique_ptr<RowSource>();
  const ScanWindow& window = plan_.window;
  if (sub.downsample->calendar) {
    const int64_t end_s = std::min<int64_t>(window.end_s, UINT32_MAX);
    constexpr uint64_t kWeekSteps = 8;  // cost of looking up the time zone
    const int64_t weeks = (end_s * 1000 - window.begin_ms()) / kWeekMs;
    RETURN_IF_ERROR(
        context.watch.Step(kWeekSteps * static_cast<uint64_t>(std::max<int64_t>(weeks, 1))));
    interval_s = CommonStep(interval_s, sub.downsample->zone, window.begin_ms(), end_s * 1000);
  }
  const RolledHours rolled = context.rolled->Of(plan_.spec.metric, plan_.spec.rows);
  kept_before_s_ = rolled.kept_before_s;
  times_forgotten_ = rolled.times_forgotten;
  // The extra hour that the fuzzy row filter reads is read from raw points, because some of its
  // points may belong to the result, and a rollup shows no single points.
  RowRange rows = plan_.spec.rows;
  rows.end = std::clamp<uint64_t>(rows.end, rows.begin, static_cast<uint64_t>(window.end_s));
  std::vector<HoursPiece> pieces = CoverHours(rolled, rows, interval_s);
  RETURN_IF_ERROR(context.watch.Step(pieces.size()));
  if (pieces.size() > kPiecesMax && rolled.kept_before_s <= rows.begin)
    return std::unique_ptr<RowSource>();
  // Charges the pieces and the copy that the scan makes of them.
  RETURN_IF_ERROR(
      plan_.memory.Add(static_cast<int64_t>(2 * pieces.capacity() * sizeof(HoursPiece))));
  if (std::all_of(pieces.begin(), pieces.end(),
                  [](const HoursPiece& piece) { return piece.level == nullptr; }))
    return std::unique_ptr<RowSource>();
  if (rows.end < plan_.spec.rows.end)
    pieces.push_back(
        {nullptr, static_cast<uint32_t>(rows.end), static_cast<uint32_t>(plan_.spec.rows.end)});
  return std::unique_ptr<RowSource>(std::make_unique<PiecesSource>(&plan_, std::move(pieces)));
}

bool AutomaticRollups::Changed() const {
  if (!kept_before_s_) return false;
  const uint32_t begin = plan_.spec.rows.begin;
  const RolledHours now = plan_.context.rolled->Of(plan_.spec.metric, {begin, begin});
  return now.times_forgotten != times_forgotten_ ||
         (now.kept_before_s != *kept_before_s_ && now.kept_before_s > begin);
}

}  // namespace hg::query
