#include "query/engine.h"

#include <algorithm>
#include <utility>

#include "query/group.h"
#include "query/last_point.h"
#include "query/limits.h"
#include "query/merge.h"
#include "query/rate.h"
#include "query/series_filter.h"
#include "query/series_set.h"
#include "query/validate.h"
#include "storage/model/key_layout.h"
#include "uid/annotations.h"

namespace hg::query {
namespace {

TimeZone DefaultZone(const Options& options) {
  if (options.timezone.empty()) return TimeZone::Local();
  Result<TimeZone> zone = TimeZone::Find(options.timezone);
  return zone.ok() ? *zone : TimeZone::Local();
}

Result<Bytes> MetricOf(const ValidSubQuery& query, const KeyLayout& layout, NameMemo* names) {
  if (!query.tsuids.empty())
    return query.tsuids[0].substr(0, static_cast<size_t>(layout.metric_width));
  return names->Find(UidKind::kMetric, *query.text.metric);
}

// Row bases have 32 bits in keys, and OpenTSDB cuts the end of a scan to them: an end beyond the
// year 2106 finds nothing (recorded).
RowRange RangeOf(const ScanWindow& window, bool extra_hour) {
  RowRange out;
  out.begin = static_cast<uint32_t>(window.begin_s);
  out.end = static_cast<uint32_t>(window.end_s + (extra_hour ? kRowSpan : 0));
  if (out.end < out.begin) out.end = out.begin;
  return out;
}

// A fill policy may give buckets before the scanned hours; merging begins with those.
void DropBefore(int64_t begin_ms, PointColumns* points) {
  auto first = std::lower_bound(points->time_ms.begin(), points->time_ms.end(), begin_ms);
  ptrdiff_t n = first - points->time_ms.begin();
  if (n == 0) return;
  points->time_ms.erase(points->time_ms.begin(), first);
  points->bits.erase(points->bits.begin(), points->bits.begin() + n);
  if (!points->kinds.empty()) points->kinds.erase(points->kinds.begin(), points->kinds.begin() + n);
}

/// Nanoseconds since the last call.
class Lap {
 public:
  explicit Lap(const Clock& clock) : clock_(clock), last_(clock.MonotonicNs()) {}
  int64_t operator()() {
    int64_t now = clock_.MonotonicNs();
    return now - std::exchange(last_, now);
  }

 private:
  const Clock& clock_;
  int64_t last_;
};

}  // namespace

Engine::Engine(Points& points, uid::Names& names, Store& cells, const Clock& clock, Options options)
    : points_(points),
      names_(names),
      cells_(cells),
      clock_(clock),
      options_(std::move(options)),
      limits_file_(options_.limits_file, options_.limits_file_interval_s, clock),
      default_zone_(DefaultZone(options_)) {}

Result<ValidQuery> Engine::Validate(const Request& request, ValidationTrace* trace) const {
  ValidationTrace unwanted;
  return ValidateRequest(request, clock_.NowMs(), default_zone_, layout().metric_width,
                         trace != nullptr ? trace : &unwanted);
}

Result<Answer> Engine::Run(const ValidQuery& query, const RunOptions& run) {
  std::optional<RunningQueries::Ticket> ticket;
  if (!options_.simultaneous_duplicates && !run.client.empty()) {
    ticket.emplace(running_.Enter(run.client, query.request));
    if (!ticket->entered()) {
      return Status::InvalidArgument("Query is already executing for endpoint: " + run.client);
    }
  }
  NameMemo names(names_);
  Answer answer;
  for (size_t i = 0; i < query.queries.size(); ++i)
    RETURN_IF_ERROR(RunOne(query, i, run, &names, &answer));
  if (query.request.global_annotations) {
    uid::Annotations annotations(cells_, {options_.data_table, layout(), false});
    ASSIGN_OR_RETURN(answer.global_annotations,
                     annotations.Globals(query.start_ms / 1000, query.end_ms / 1000));
  }
  return answer;
}

Result<std::vector<LastPoint>> Engine::Last(const LastPointQuery& query) {
  NameMemo names(names_);
  return FindLastPoints(query, options_, clock_.NowMs(), &points_, &cells_, &names);
}

Status Engine::RunOne(const ValidQuery& query, size_t index, const RunOptions& run, NameMemo* names,
                      Answer* answer) {
  const ValidSubQuery& sub = query.queries[index];
  SubQueryInfo info;
  Lap lap(clock_);
  ASSIGN_OR_RETURN(Bytes metric, MetricOf(sub, layout(), names));
  static const Bytes kUnnamed;  // the limits file cannot speak of a TSUID's metric that has no name
  Result<const Bytes*> known = names->NameOf(UidKind::kMetric, metric);
  const Bytes* metric_name = known.ok() ? *known : &kUnnamed;
  ASSIGN_OR_RETURN(SeriesFilter filter, SeriesFilter::Resolve(sub, options_, layout(), names));
  info.filter_keys = filter.filtered_keys();
  info.stats.names_ns = lap();

  ScanWindow window =
      PlanScan(query.start_ms, query.end_ms, sub.downsample ? sub.downsample->interval_ms() : 0);
  std::optional<BucketGrid> grid;
  if (sub.downsample) grid.emplace(*sub.downsample, window, query.start_ms, query.end_ms);
  PointScanSpec spec;
  spec.metric = metric;
  spec.matcher = filter.matcher();
  spec.rows = RangeOf(window, filter.reads_extra_hour());
  spec.objects =
      true;  // a row that holds annotations only still makes an output (spec query.md §9.1)
  spec.batch_rows = options_.batch_rows;
  ASSIGN_OR_RETURN(Limits limits,
                   LimitsFor(options_, &limits_file_, *metric_name,
                             query.request.override_byte_limit, query.request.override_cell_limit));
  LimitCounter counter(limits, clock_, &run.cancelled);
  SeriesSet set(layout(), grid ? &*grid : nullptr, &filter);
  {
    ASSIGN_OR_RETURN(std::unique_ptr<PointScan> scan, points_.Scan(spec, options_.reconcile));
    RETURN_IF_ERROR(set.Read(scan.get(), &counter));
  }
  RETURN_IF_ERROR(set.Finish());
  std::vector<Series>& series = set.series();
  info.stats.rows = counter.rows();
  info.stats.cells = counter.cells();
  info.stats.scan_ns = lap();

  if (query.request.delete_rows && !series.empty()) {
    if (filter.decides()) {
      spec.matcher = {};
      for (const Series& s : series) spec.matcher.tsuids.push_back(s.tsuid);
      std::sort(spec.matcher.tsuids.begin(), spec.matcher.tsuids.end());
    }
    RETURN_IF_ERROR(points_.DeleteRows(spec));
    lap();
  }

  for (Series& s : series) {
    info.stats.points += s.raw_points;
    if (sub.text.rate)
      RETURN_IF_ERROR(ApplyRate(sub.text.rate_options.value_or(RateOptions()), &s.points));
    DropBefore(window.begin_ms(), &s.points);
  }
  std::vector<SeriesGroup> groups = FormGroups(
      layout(), series, sub.aggregator->function == Function::kNone, filter.group_by(), window);
  info.stats.group_ns = lap();

  MergeOptions merge;
  merge.aggregator = sub.aggregator;
  merge.rate = sub.text.rate;
  merge.last_ms = window.end_ms();
  if (run.trim) {
    merge.trim_begin_ms = query.start_ms;
    merge.trim_end_ms = query.end_ms;
  }
  std::vector<const PointColumns*> columns;
  for (const SeriesGroup& group : groups) {
    if (run.cancelled && run.cancelled())
      return Status::DeadlineExceeded("The client has closed its connection");
    Group out;
    out.query_index = index;
    columns.clear();
    for (const Series* s : group.members) columns.push_back(&s->points);
    ASSIGN_OR_RETURN(out.points, MergeSeries(merge, columns));
    info.stats.emitted_points += out.points.size();
    RETURN_IF_ERROR(Describe(layout(), group, names, &out));
    answer->groups.push_back(std::move(out));
  }
  info.stats.aggregate_ns = lap();
  answer->queries.push_back(std::move(info));
  return {};
}

}  // namespace hg::query
