#include "query/rows/row_source.h"

#include <iterator>
#include <span>
#include <utility>

#include "query/request/side_by_side.h"

namespace hg::query {
namespace {

// Minimum number of rows whose scan is divided between threads. Reading this many rows takes much
// longer than waking another thread. A query of this many rows does not start on an event loop,
// because the loop would have to abandon it (query/README.md).
constexpr uint64_t kRowsInParts = 256;
// Number of rows whose statistics can be read in the time that the points of one row need.
constexpr uint64_t kStatisticsInRow = 4;

Status ReadScan(PointScan* scan, LimitCounter* counter, SeriesSet* set) {
  RETURN_IF_ERROR(set->Read(scan, counter));
  return set->Finish();
}

void Count(const LimitCounter& counter, const SeriesSet& set, SubQueryStats* stats) {
  stats->rows_before += counter.rows();
  stats->points_before += counter.points();
  stats->rows_after += set.rows_admitted();
  stats->points_after += set.points_admitted();
}

class RawPoints : public RowSource {
 public:
  RawPoints(SubQueryPlan* plan, std::unique_ptr<PointScan> scan)
      : plan_(*plan), scan_(std::move(scan)) {}

  [[nodiscard]] uint64_t RowsExpected() const override { return scan_->RowsExpected(); }

  Status Read(SeriesRead* out) override {
    const BucketGrid* const grid = plan_.grid ? &*plan_.grid : nullptr;
    const auto add_set = [&](size_t) -> SeriesSet& { return AddSet(&plan_, grid, out); };
    return ReadInParts(plan_, std::move(scan_), add_set, out);
  }

 private:
  SubQueryPlan& plan_;
  std::unique_ptr<PointScan> scan_;
};

}  // namespace

void SeriesRead::Clear() {
  sets.clear();
  std::vector<Series>().swap(series);
  folded.reset();
  memory.Remove(memory.held());
}

Status RowSource::Finish(SeriesRead* out) {
  out->series.clear();
  if (out->sets.size() == 1) {
    out->series.swap(out->sets[0].series());
    return {};
  }
  for (SeriesSet& set : out->sets) {
    out->series.insert(out->series.end(), std::make_move_iterator(set.series().begin()),
                       std::make_move_iterator(set.series().end()));
    std::vector<Series>().swap(set.series());
  }
  return SortSeries(&out->series, &out->memory);  // with salt, only each set is sorted
}

std::unique_ptr<RowSource> RawPointsOf(SubQueryPlan* plan, std::unique_ptr<PointScan> scan) {
  return std::make_unique<RawPoints>(plan, std::move(scan));
}

Result<std::unique_ptr<RowSource>> OpenRawPoints(SubQueryPlan* plan) {
  const RunContext& context = plan->context;
  ASSIGN_OR_RETURN(auto scan, context.points.Scan(plan->spec, context.options.reconcile));
  RETURN_IF_ERROR(MayReadHere(*plan, *scan));
  return RawPointsOf(plan, std::move(scan));
}

Status MayReadHere(const SubQueryPlan& plan, const PointScan& scan) {
  // The other sub-queries usually read about as many rows, so the estimate includes them.
  const uint64_t rows = scan.RowsExpected() * plan.context.query.queries.size();
  const bool statistics = plan.spec.statistics && !plan.sub.values && scan.ExpectsStatistics();
  if (rows >= kRowsInParts * (statistics ? kStatisticsInRow : 1))
    return plan.context.watch.MayWait();
  return {};
}

Status MayReadHere(const SubQueryPlan& plan, uint64_t rows) {
  return rows >= kRowsInParts ? plan.context.watch.MayWait() : Status();
}

SeriesSet& AddSet(SubQueryPlan* plan, const BucketGrid* grid, SeriesRead* out) {
  SeriesFilter* const filter = plan->filters_by_name() ? &*plan->filter : nullptr;
  SeriesSet& set = out->sets.emplace_back(plan->layout(), grid, filter, &plan->context.watch);
  if (plan->sub.histograms) set.WantHistograms();
  if (plan->sub.values) set.WantValues(&*plan->sub.values);
  return set;
}

Status ReadInto(const SubQueryPlan& plan, PointScan* scan, SeriesSet* set, SeriesRead* out) {
  LimitCounter counter(plan.limits, plan.context.watch);
  RETURN_IF_ERROR(ReadScan(scan, &counter, set));
  Count(counter, *set, &out->info.stats);
  return {};
}

// Reads the scan in parts. This is possible because series are independent until groups are merged.
// The parts are in the order of the whole scan, so the error of the first failed part is the first
// error.
Status ReadInParts(const SubQueryPlan& plan, std::unique_ptr<PointScan> scan,
                   const std::function<SeriesSet&(size_t parts)>& add_set, SeriesRead* out) {
  const RunContext& context = plan.context;
  // The scan is not divided on an event loop, which does not wait for other threads. It is not
  // divided with limits, which must count rows in order, or with filters by name, whose cached
  // results belong to one thread.
  const bool divided = !context.watch.on_loop() && !plan.limited() && !plan.filters_by_name() &&
                       scan->RowsExpected() >= kRowsInParts;
  std::vector<std::unique_ptr<PointScan>> parts;
  if (divided) parts = scan->Cut(kPartsPerThread * (context.helper_count + 1));
  if (parts.empty()) return ReadInto(plan, scan.get(), &add_set(1), out);
  std::vector<SeriesSet*> sets;
  std::deque<LimitCounter> counters;
  for (size_t i = 0; i < parts.size(); ++i) {
    sets.push_back(&add_set(parts.size()));
    counters.emplace_back(plan.limits, context.watch);
  }
  std::vector<Status> statuses(parts.size());
  RunSideBySide(&context.helpers, context.helper_count, parts.size(), [&](size_t i) {
    statuses[i] = ReadScan(parts[i].get(), &counters[i], sets[i]);
    return statuses[i].ok();
  });
  for (const Status& status : statuses) RETURN_IF_ERROR(status);
  for (size_t i = 0; i < parts.size(); ++i) Count(counters[i], *sets[i], &out->info.stats);
  return {};
}

}  // namespace hg::query
