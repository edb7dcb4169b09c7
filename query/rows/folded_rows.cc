#include "query/rows/folded_rows.h"

#include <algorithm>
#include <utility>

#include "query/rows/cached_rows.h"
#include "query/rows/extreme_fold.h"
#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

// Maximum number of buckets. Dashboards do not request more buckets, and with few series the
// buckets would take more memory than the series.
constexpr int64_t kFoldedBucketsMax = 1 << 20;
// If more than one of kReadShare rows had to be read, the next query with the same cache key
// (CacheShapeOf) uses cached hours, because they are faster then.
constexpr uint64_t kReadShare = 4;
// If there are more buckets per row than this, creating them costs more than reading all rows.
constexpr uint64_t kBucketsPerRowMax = 64;
// Number of buckets that can be created, and visited at the end, in the time of a step.
constexpr uint64_t kBucketsPerStep = 8;

class FoldedRows : public RowSource {
 public:
  FoldedRows(SubQueryPlan* plan, std::unique_ptr<PointScan> scan)
      : plan_(*plan), scan_(std::move(scan)), memory_(&plan->context.watch) {}

  /// Creates the `buckets` buckets of the result. They start in [first_ms, last_ms].
  Status Open(int64_t buckets, int64_t first_ms, int64_t last_ms);
  [[nodiscard]] uint64_t RowsExpected() const override { return scan_->RowsExpected(); }
  Status Read(SeriesRead* out) override;
  Status Finish(SeriesRead* out) override;
  [[nodiscard]] std::optional<RowSourceKind> fallback() const override {
    return RowSourceKind::kRawPoints;
  }

 private:
  SubQueryPlan& plan_;
  std::unique_ptr<PointScan> scan_;
  MemoryTally memory_;  // charges the buckets of fold_, and later those of SeriesRead::folded
  std::optional<ExtremeFold> fold_;  // receives the series while the sets are read
};

Status FoldedRows::Open(int64_t buckets, int64_t first_ms, int64_t last_ms) {
  RETURN_IF_ERROR(memory_.Step(static_cast<uint64_t>(buckets) / kBucketsPerStep));
  RETURN_IF_ERROR(memory_.Add(ExtremeFold::BytesOf(buckets)));
  const DownsampleSpec& spec = plan_.grid->spec();
  fold_.emplace(spec.function->function, spec.interval_ms(), first_ms, last_ms);
  return {};
}

Status FoldedRows::Read(SeriesRead* out) {
  const auto add_set = [&](size_t) -> SeriesSet& {
    SeriesSet& set = AddSet(&plan_, &*plan_.grid, out);
    set.FoldInto(&*fold_);
    return set;
  };
  Status read = ReadInParts(plan_, std::move(scan_), add_set, out);
  // ExtremeFold would fail again for the next query with the same cache key, so that query uses the
  // cache.
  if (read.code() == StatusCode::kConflict && MayCache(plan_))
    plan_.context.cache->PreferHours(CacheShapeOf(plan_));
  return read;
}

Status FoldedRows::Finish(SeriesRead* out) {
  out->folded = fold_->Runs();
  fold_.reset();
  uint64_t rows = 0, spared = 0;
  for (const SeriesSet& set : out->sets) {
    rows += set.rows_admitted();
    spared += set.rows_spared();
  }
  if (MayCache(plan_) && (rows - spared) * kReadShare > rows)
    plan_.context.cache->PreferHours(CacheShapeOf(plan_));
  return RowSource::Finish(out);
}

// Returns whether ExtremeFold can compute the result. It requires a single group, a bucket interval
// that divides an hour, and no fill policy. The times must be in the range in which OpenTSDB does
// not confuse seconds and milliseconds, so that all series are members of the group. Queries with
// limits cannot use it, because limits must count all points.
bool MayFold(const SubQueryPlan& plan) {
  if (!plan.grid || !plan.context.points.ListsFromIndex()) return false;
  constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;
  const DownsampleSpec& spec = plan.grid->spec();
  const Function function = spec.function->function;
  const bool extremes = (function == Function::kMax || function == Function::kMin) &&
                        plan.sub.aggregator->function == function;
  const bool in_hours = !spec.run_all && !spec.calendar && spec.fill == FillPolicy::kNone &&
                        spec.interval_ms() > 0 && spec.interval_ms() < kHourMs &&
                        kHourMs % spec.interval_ms() == 0;
  const bool usual_times = plan.window.begin_ms() > UINT32_MAX && plan.window.end_s <= UINT32_MAX;
  return extremes && in_hours && usual_times && !plan.limited() && !plan.sub.text.rate &&
         !plan.sub.histograms && !plan.sub.values && plan.filter->group_by().empty() &&
         !plan.filter->reads_extra_hour();
}

}  // namespace

Result<std::unique_ptr<RowSource>> OpenExtremes(SubQueryPlan* plan) {
  const RunContext& context = plan->context;
  const bool may_cache = MayCache(*plan);
  if (!MayFold(*plan) || (may_cache && context.cache->prefers_hours(CacheShapeOf(*plan))))
    return std::unique_ptr<RowSource>();
  const int64_t interval_ms = plan->grid->spec().interval_ms();
  int64_t first_ms = int64_t{plan->spec.rows.begin} * 1000;
  int64_t last_ms = static_cast<int64_t>(plan->spec.rows.end) * 1000 - 1;
  if (context.trim) {
    first_ms = std::max(first_ms, context.query.start_ms);
    last_ms = std::min(last_ms, context.query.end_ms);
  }
  const int64_t buckets = last_ms / interval_ms - (first_ms + interval_ms - 1) / interval_ms + 1;
  if (buckets <= 0 || buckets > kFoldedBucketsMax) return std::unique_ptr<RowSource>();
  PointScanSpec spec = plan->spec;
  spec.statistics = true;
  ASSIGN_OR_RETURN(auto scan, context.points.Scan(spec, context.options.reconcile));
  // RowsExpected expects at most the rows of a day per series, so only the buckets of a day are
  // compared with it.
  const int64_t compared = std::min(buckets, kDayMs / interval_ms);
  const bool many_buckets =
      static_cast<uint64_t>(compared) > kBucketsPerRowMax * scan->RowsExpected();
  const bool folds = !many_buckets && scan->RepeatsSeries();
  if (!folds && may_cache) {
    if (!many_buckets) context.cache->PreferHours(CacheShapeOf(*plan));
    return std::unique_ptr<RowSource>();
  }
  RETURN_IF_ERROR(MayReadHere(*plan, *scan));
  if (!folds) return RawPointsOf(plan, std::move(scan));
  auto source = std::make_unique<FoldedRows>(plan, std::move(scan));
  RETURN_IF_ERROR(source->Open(buckets, first_ms, last_ms));
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace hg::query
