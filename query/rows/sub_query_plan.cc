#include "query/rows/sub_query_plan.h"

#include <algorithm>
#include <utility>

#include "query/series/choose_series.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

// The longest text that std::string stores without heap memory.
constexpr size_t kInlineBytes = 15;

Result<Bytes> MetricOf(const ValidSubQuery& query, const KeyLayout& layout, NameMemo* names) {
  if (query.tsuids.empty()) return names->Find(UidKind::kMetric, *query.text.metric);
  return query.tsuids[0].substr(0, static_cast<size_t>(layout.metric_width));
}

// A row key has 32 bits for the base time, and OpenTSDB truncates the end of a scan to 32 bits. So
// a query whose end is after the year 2106 finds nothing, as the recordings of OpenTSDB show.
RowRange RangeOf(const ScanWindow& window, bool extra_hour) {
  RowRange out;
  out.begin = static_cast<uint32_t>(window.begin_s);
  const int64_t end_s = window.end_s + (extra_hour ? kRowSpan : 0);
  // There is no extra hour after the last hour.
  out.end = window.end_s <= int64_t{UINT32_MAX}
                ? static_cast<uint64_t>(std::min<int64_t>(end_s, UINT32_MAX))
                : static_cast<uint32_t>(end_s);
  if (out.end < out.begin) out.end = out.begin;
  return out;
}

}  // namespace

// Charges the memory of the filters. It counts several times, because the scan copies the filters.
Status SubQueryPlan::ChargeFilters() {
  constexpr size_t kFilterBytes = 256, kLiteralBytes = 96, kScanCopies = 3;
  constexpr uint64_t kNameSteps = 16;  // cost of looking up a name
  size_t bytes = 0, literals = sub.filters.size();
  for (const auto& each : sub.filters) {
    bytes += kFilterBytes + kScanCopies * kLiteralBytes * each->literals().size();
    literals += each->literals().size();
  }
  for (const Bytes& tsuid : sub.tsuids)
    bytes += (1 + kScanCopies) * (sizeof(tsuid) + (tsuid.size() > kInlineBytes ? tsuid.size() : 0));
  RETURN_IF_ERROR(memory.Step(literals * kNameSteps + sub.tsuids.size()));
  return memory.Add(static_cast<int64_t>(bytes));
}

Status SubQueryPlan::Resolve() {
  const Request& request = context.query.request;
  ASSIGN_OR_RETURN(spec.metric, MetricOf(sub, layout(), &names));
  RETURN_IF_ERROR(ChargeFilters());
  ASSIGN_OR_RETURN(filter, context.filters.Resolve(sub, context.options, layout(), &names));
  // The limits file has limits by metric names, so it cannot apply to a TSUID whose metric has no
  // name.
  Result<const Bytes*> metric = names.NameOf(UidKind::kMetric, spec.metric);
  ASSIGN_OR_RETURN(
      limits, LimitsFor(context.options, &context.limits_file, metric.ok() ? **metric : Bytes(),
                        context.watch, request.override_byte_limit, request.override_cell_limit));
  spec.matcher = filter->matcher();
  // A row that has only annotations also creates an output (opentsdb-queries.md §9.1).
  spec.objects = true;
  spec.batch_rows = limits.batch_rows;
  spec.watch = &context.watch;
  return PlanRaw(sub.downsample ? &*sub.downsample : nullptr);
}

Status SubQueryPlan::MakeGrid(const DownsampleSpec& downsample) {
  grid.emplace(downsample, window, start_ms, end_ms);
  grid_memory_.Remove(grid_memory_.held());
  if (sub.histograms) return {};  // histograms are never filled
  return grid->BuildFillGrid(window, &grid_memory_);
}

void SubQueryPlan::FreeGrid() {
  grid.reset();
  grid_memory_.Remove(grid_memory_.held());
}

Status SubQueryPlan::PlanRaw(const DownsampleSpec* downsample) {
  window = PlanScan(start_ms, end_ms, downsample != nullptr ? downsample->interval_ms() : 0);
  if (downsample != nullptr) RETURN_IF_ERROR(MakeGrid(*downsample));
  // Statistics are requested only if each row belongs to one bucket.
  const bool whole_rows = downsample != nullptr && TakesStatistics(*downsample) &&
                          (downsample->run_all || downsample->interval_ms() >= kRowSpan * 1000);
  spec.statistics = !sub.histograms && (whole_rows || sub.values);
  spec.rows = RangeOf(window, filter->reads_extra_hour());
  return {};
}

// If there are limits, series are not chosen before the scan, because OpenTSDB also counts rows of
// series that the filter refuses.
Result<bool> SubQueryPlan::ChooseSeries() {
  if (!filter->decides() || limited() || !context.points.ListsFromIndex()) return true;
  ASSIGN_OR_RETURN(SeriesMatcher matcher,
                   query::ChooseSeries(context.points, spec.metric, &*filter, &memory));
  spec.matcher = std::move(matcher);
  chosen = true;
  return !spec.matcher.tsuids.empty();
}

}  // namespace hg::query
