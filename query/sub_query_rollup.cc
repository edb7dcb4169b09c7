#include <bit>
#include <utility>

#include "query/rollup_scan.h"
#include "query/sub_query_run.h"

namespace hg::query {
namespace {

void Divide(const PointColumns& counts, PointColumns* sums) {
  for (size_t i = 0; i < sums->size(); ++i) {
    const auto count = std::bit_cast<double>(counts.bits[i]);
    const double average = count == 0 ? 0.0 : std::bit_cast<double>(sums->bits[i]) / count;
    sums->bits[i] = std::bit_cast<uint64_t>(average);
  }
}

}  // namespace

Status SubQueryRun::PlanTables() {
  const Options& options = context_.options;
  if (!options.rollups) {
    if (!sub_.text.pre_aggregate) return {};
    return Status::InvalidArgument("Pre-aggregates cannot be queried: no rollups are configured");
  }
  if (sub_.histograms) return {};
  pre_aggregates_ = AsksForPreAggregates(sub_.text, options.aggregate_key, options.raw_aggregate);
  if (tables_ == Tables::kRaw || sub_.values) return {};  // rollups have no single points
  if (context_.rolled != nullptr && !pre_aggregates_)
    // Automatic rollups are handled in sub_query_rolled.cc.
    return {};
  ASSIGN_OR_RETURN(rollups_, PlanRollup(*options.rollups, sub_.text,
                                        sub_.downsample ? &*sub_.downsample : nullptr));
  if (tables_ == Tables::kAny) PlanSplit();
  return {};
}

Status SubQueryRun::ReadTables() {
  for (const codec::RollupLevel* level : rollups_.levels) {
    RETURN_IF_ERROR(ReadLevel(*level));
    if (!series_.empty()) return {};
  }
  if (!rollups_.levels.empty()) {
    if (!rollups_.then_raw) return {};
    // Quirk Q25: buckets have the interval of the last rollup level that was tried; calendar and
    // zone are ignored.
    DownsampleSpec spec;
    spec.interval = {rollups_.levels.back()->interval.interval_s, TimeUnit::kSecond};
    spec.function = rollups_.raw_function;
    spec.fill = sub_.downsample->fill;
    RETURN_IF_ERROR(PlanRaw(&spec));
    info_.rollup_table = kRawTable;
  }
  sets_.clear();
  if (!pre_aggregates_) {
    RETURN_IF_ERROR(OpenScan());
    return Read();
  }
  const std::string& table = context_.options.rollups->Default().pre_aggregate_table;
  ASSIGN_OR_RETURN(const auto scan, ScanLikeData(&context_.cells, layout(), table, spec_,
                                                 context_.options.reconcile));
  RETURN_IF_ERROR(ReadInto(scan.get(), &AddSet()));
  TakeSeries();
  return {};
}

Status SubQueryRun::ReadLevel(const codec::RollupLevel& level) {
  info_.rollup_table = level.name;
  window_ = PlanRollupScan(start_ms_, end_ms_, sub_.text.rate, level.interval);
  DownsampleSpec downsample = *sub_.downsample;
  downsample.function = rollups_.function;
  RETURN_IF_ERROR(MakeGrid(downsample));
  spec_.rows.begin = static_cast<uint32_t>(window_.begin_s);
  // The stop key of the fuzzy row filter includes the row that begins at the end of the window.
  spec_.rows.end = static_cast<uint32_t>(window_.end_s + (filter_->reads_extra_hour() ? 1 : 0));

  RollupColumn column;
  column.table = pre_aggregates_ ? level.pre_aggregate_table : level.table;
  column.interval = level.interval;
  column.aggregate = rollups_.stored;
  if (rollups_.average) column.beside = rollups_.count;
  const bool fix = context_.options.reconcile.fix_duplicates;
  sets_.clear();
  ASSIGN_OR_RETURN(const auto scan, ScanRollup(&context_.cells, layout(), column, spec_, fix));
  RETURN_IF_ERROR(ReadInto(scan.get(), &AddSet()));
  TakeSeries();
  if (!rollups_.average) return {};
  std::swap(column.aggregate, *column.beside);
  SeriesSet counts(layout(), &*grid_, &*filter_, &context_.watch);
  ASSIGN_OR_RETURN(const auto second, ScanRollup(&context_.cells, layout(), column, spec_, fix));
  RETURN_IF_ERROR(ReadInto(second.get(), &counts));
  // Both lists have the same series in the same order, unless another client wrote between the two
  // scans. Only series and intervals that both lists have are kept.
  std::vector<Series>& sums = series_;
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

}  // namespace hg::query
