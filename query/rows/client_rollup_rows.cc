#include "query/rows/client_rollup_rows.h"

#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "query/rows/client_rollup_scan.h"

namespace hg::query {
namespace {

void Divide(const PointColumns& counts, PointColumns* sums) {
  for (size_t i = 0; i < sums->size(); ++i) {
    const auto count = std::bit_cast<double>(counts.bits[i]);
    const double average = count == 0 ? 0.0 : std::bit_cast<double>(sums->bits[i]) / count;
    sums->bits[i] = std::bit_cast<uint64_t>(average);
  }
}

Status ReadWhole(std::unique_ptr<PointScan> scan, SubQueryPlan* plan, SeriesRead* out) {
  const BucketGrid* const grid = plan->grid ? &*plan->grid : nullptr;
  RETURN_IF_ERROR(ReadInto(*plan, scan.get(), &AddSet(plan, grid, out), out));
  out->series.swap(out->sets.back().series());
  return {};
}

Status ReadLevel(const codec::RollupLevel& level, const ClientTables& tables, SubQueryPlan* plan,
                 SeriesRead* out) {
  const RunContext& context = plan->context;
  const RollupPlan& rollups = tables.rollups;
  out->info.rollup_table = level.name;
  plan->window = PlanRollupScan(plan->start_ms, plan->end_ms, plan->sub.text.rate, level.interval);
  DownsampleSpec downsample = *plan->sub.downsample;
  downsample.function = rollups.function;
  RETURN_IF_ERROR(plan->MakeGrid(downsample));
  PointScanSpec& spec = plan->spec;
  spec.rows.begin = static_cast<uint32_t>(plan->window.begin_s);
  // The stop key of the fuzzy row filter includes the row that begins at the end of the window.
  spec.rows.end =
      static_cast<uint32_t>(plan->window.end_s + (plan->filter->reads_extra_hour() ? 1 : 0));

  RollupColumn column;
  column.table = tables.pre_aggregates ? level.pre_aggregate_table : level.table;
  column.interval = level.interval;
  column.aggregate = rollups.stored;
  if (rollups.average) column.beside = rollups.count;
  const bool fix = context.options.reconcile.fix_duplicates;
  ASSIGN_OR_RETURN(auto scan, ScanRollup(&context.cells, plan->layout(), column, spec, fix));
  RETURN_IF_ERROR(ReadWhole(std::move(scan), plan, out));
  if (!rollups.average) return {};
  std::swap(column.aggregate, *column.beside);
  SeriesSet counts(plan->layout(), &*plan->grid, &*plan->filter, &context.watch);
  ASSIGN_OR_RETURN(const auto second,
                   ScanRollup(&context.cells, plan->layout(), column, spec, fix));
  RETURN_IF_ERROR(ReadInto(*plan, second.get(), &counts, out));
  // Sums and counts have the same series in the same order, unless a client wrote between the two
  // scans. Only series whose intervals are the same in both are kept.
  std::vector<Series>& sums = out->series;
  const std::vector<Series>& divisors = counts.series();
  std::erase_if(sums, [&, at = size_t{0}](const Series& s) mutable {
    while (at < divisors.size() && divisors[at].order < s.order) ++at;
    return at == divisors.size() || divisors[at].order != s.order ||
           divisors[at].points.time_ms != s.points.time_ms;
  });
  size_t at = 0;
  for (Series& s : sums) {
    while (divisors[at].order != s.order) ++at;
    Divide(divisors[at].points, &s.points);
  }
  return {};
}

}  // namespace

Result<ClientTables> PlanClientTables(const RunContext& context, const ValidSubQuery& sub,
                                      int64_t start_ms, int64_t end_ms, TablesAllowed allowed) {
  const Options& options = context.options;
  ClientTables out;
  if (!options.rollups) {
    if (!sub.text.pre_aggregate) return out;
    return Status::InvalidArgument("Pre-aggregates cannot be queried: no rollups are configured");
  }
  if (sub.histograms) return out;
  out.pre_aggregates = AsksForPreAggregates(sub.text, options.aggregate_key, options.raw_aggregate);
  // Rollups contain no single points, so they are not used if single points are needed.
  if (allowed == TablesAllowed::kRaw || sub.values) return out;
  // If the daemon computes automatic rollups, the rollup tables contain those. AutomaticRollups
  // reads them (automatic_rollup_rows.h).
  if (context.rolled != nullptr && !out.pre_aggregates) return out;
  ASSIGN_OR_RETURN(out.rollups, PlanRollup(*options.rollups, sub.text,
                                           sub.downsample ? &*sub.downsample : nullptr));
  if (allowed != TablesAllowed::kAny || !options.split_rollups || out.rollups.levels.empty())
    return out;
  const int64_t delay_s = out.rollups.levels.front()->delay_s;
  if (delay_s == 0) return out;
  const int64_t complete_ms = (context.clock.NowMs() / 1000 - delay_s) * 1000;
  if (end_ms <= complete_ms) return out;
  if (complete_ms < start_ms) {
    out.rollups = {};
  } else {
    out.split_ms = complete_ms;
  }
  return out;
}

Result<bool> ReadClientTables(const ClientTables& tables, SubQueryPlan* plan, SeriesRead* out) {
  const RunContext& context = plan->context;
  for (const codec::RollupLevel* level : tables.rollups.levels) {
    out->Clear();
    RETURN_IF_ERROR(ReadLevel(*level, tables, plan, out));
    if (!out->series.empty()) return true;
  }
  if (!tables.rollups.levels.empty()) {
    if (!tables.rollups.then_raw) return true;
    // Quirk Q25: the buckets have the interval of the last rollup level that was tried. The
    // calendar and the time zone are ignored.
    DownsampleSpec spec;
    spec.interval = {tables.rollups.levels.back()->interval.interval_s, TimeUnit::kSecond};
    spec.function = tables.rollups.raw_function;
    spec.fill = plan->sub.downsample->fill;
    RETURN_IF_ERROR(plan->PlanRaw(&spec));
    out->info.rollup_table = kRawTable;
  }
  out->Clear();
  if (!tables.pre_aggregates) return false;
  const std::string& table = context.options.rollups->Default().pre_aggregate_table;
  ASSIGN_OR_RETURN(auto scan, ScanLikeData(&context.cells, plan->layout(), table, plan->spec,
                                           context.options.reconcile));
  RETURN_IF_ERROR(ReadWhole(std::move(scan), plan, out));
  return true;
}

}  // namespace hg::query
