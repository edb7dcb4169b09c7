#include "query/sub_query_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "query/choose_series.h"
#include "query/merge.h"
#include "query/rate.h"
#include "query/side_by_side.h"
#include "storage/base/no_wait.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

// What a series or a group costs beside its points, measured in points.
constexpr uint64_t kSeriesSteps = 8;

// Reading so many rows takes longer by far than waking another thread. More parts than threads, as
// none should wait for the last one long. A query of so many does not begin on a loop, where it
// would be given up half done (README.md).
constexpr uint64_t kRowsInParts = 256;
constexpr size_t kPartsPerThread = 2;

Result<Bytes> MetricOf(const ValidSubQuery& query, const KeyLayout& layout, NameMemo* names) {
  if (query.tsuids.empty()) return names->Find(UidKind::kMetric, *query.text.metric);
  return query.tsuids[0].substr(0, static_cast<size_t>(layout.metric_width));
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

}  // namespace

int64_t SubQueryRun::Lap() {
  int64_t now = context_.clock.MonotonicNs();
  return now - std::exchange(last_ns_, now);
}

Status SubQueryRun::Open() {
  opened_ = true;
  RETURN_IF_ERROR(PlanTables());
  if (split_ms_) return {};
  RETURN_IF_ERROR(Resolve());
  info_.stats.filter_ns = Lap();
  if (reads_tables()) return {};
  ASSIGN_OR_RETURN(const bool any, ChooseSeries());
  return any ? OpenScan() : Status();
}

Status SubQueryRun::Run() {
  if (!opened_) RETURN_IF_ERROR(Open());
  if (split_ms_) return RunParts();
  if (!reads_tables() && scan_ == nullptr && !cached_) return {};  // no series
  RETURN_IF_ERROR(reads_tables() ? ReadTables() : Read());
  info_.stats.scan_ns = Lap();
  info_.stats.names_resolved = names_.resolved();
  info_.stats.scan = "metric " + ToHexUpper(spec_.metric) + ", rows [" +
                     std::to_string(spec_.rows.begin) + ", " + std::to_string(spec_.rows.end) + ")";
  Status evaluated = sub_.histograms ? EvaluateHistograms() : Evaluate();
  if (context_.on_failure == OnFailure::kFail || evaluated.code() != StatusCode::kInvalidArgument)
    return evaluated;
  if (context_.on_failure == OnFailure::kLeaveNothing) groups_.clear();
  info_.failure = std::move(evaluated);
  return {};
}

Status SubQueryRun::Resolve() {
  const Request& request = context_.query.request;
  ASSIGN_OR_RETURN(spec_.metric, MetricOf(sub_, layout(), &names_));
  ASSIGN_OR_RETURN(filter_, context_.filters.Resolve(sub_, context_.options, layout(), &names_));
  info_.filter_keys = filter_->filtered_keys();
  // The limits file cannot speak of a TSUID's metric that has no name.
  Result<const Bytes*> metric = names_.NameOf(UidKind::kMetric, spec_.metric);
  ASSIGN_OR_RETURN(
      limits_, LimitsFor(context_.options, &context_.limits_file, metric.ok() ? **metric : Bytes(),
                         request.override_byte_limit, request.override_cell_limit));
  spec_.matcher = filter_->matcher();
  spec_.objects = true;  // a row that holds annotations only still makes an output (§9.1)
  spec_.batch_rows = limits_.batch_rows;
  spec_.watch = &context_.watch;
  return PlanRaw(sub_.downsample ? &*sub_.downsample : nullptr);
}

Status SubQueryRun::PlanRaw(const DownsampleSpec* downsample) {
  window_ = PlanScan(start_ms_, end_ms_, downsample != nullptr ? downsample->interval_ms() : 0);
  if (downsample != nullptr) {
    if (!sub_.histograms) {  // which are never filled
      RETURN_IF_ERROR(CheckFill(*downsample, window_));
      RETURN_IF_ERROR(context_.watch.Charge(FillBytes(*downsample, window_)));
    }
    grid_.emplace(*downsample, window_, start_ms_, end_ms_);
  }
  // Of rows that fall into several buckets only their points would do.
  const bool whole_rows = downsample != nullptr && TakesStatistics(*downsample) &&
                          (downsample->run_all || downsample->interval_ms() >= kRowSpan * 1000);
  spec_.statistics = !sub_.histograms && (whole_rows || sub_.values);
  spec_.rows = RangeOf(window_, filter_->reads_extra_hour());
  return {};
}

// Where limits count, OpenTSDB counts the rows of refused series, too: then they are read.
Result<bool> SubQueryRun::ChooseSeries() {
  bool counted = limits_.bytes_max > 0 || limits_.cells_max > 0;
  if (!filter_->decides() || counted || !context_.points.ListsFromIndex()) return true;
  ASSIGN_OR_RETURN(SeriesMatcher chosen,
                   query::ChooseSeries(context_.points, spec_.metric, &*filter_, &chosen_memory_));
  spec_.matcher = std::move(chosen);
  chosen_ = true;
  return !spec_.matcher.tsuids.empty();
}

SeriesSet& SubQueryRun::AddSet() {
  SeriesFilter* const filter = filter_->decides() && !chosen_ ? &*filter_ : nullptr;
  const BucketGrid* const grid = cached_ ? &cached_->grid : grid_ ? &*grid_ : nullptr;
  SeriesSet& set = sets_.emplace_back(layout(), grid, filter, &context_.watch);
  if (cached_ && !cached_->old.generations.empty()) {
    const auto end = static_cast<uint32_t>(cached_->old.missing.end);
    set.Record(&cached_->records.emplace_back(end, context_.cache->rows_max()));
  }
  if (sub_.histograms) set.WantHistograms();
  if (sub_.values) set.WantValues(&*sub_.values);
  return set;
}

Status SubQueryRun::OpenScan() {
  cached_.reset();
  PlanPieces();
  if (pieces_.empty()) return OpenRawScan();
  OpenPieces();
  return {};
}

Status SubQueryRun::OpenRawScan() {
  PointScanSpec spec = spec_;
  cached_.reset();
  if (MayCache()) FindCached(&spec);
  if (cached_ && spec.rows.begin >= spec.rows.end) return {};
  ASSIGN_OR_RETURN(scan_, context_.points.Scan(spec, context_.options.reconcile));
  // The other sub-queries mostly ask for other metrics of the same series.
  if (scan_->RowsExpected() * context_.query.queries.size() >= kRowsInParts)
    RETURN_IF_ERROR(NoWait::MayWait());
  return {};
}

Status SubQueryRun::Read() {
  if (!pieces_.empty()) {
    ASSIGN_OR_RETURN(const bool read, ReadPieces());
    if (read) return {};
    RETURN_IF_ERROR(OpenRawScan());
  }
  if (scan_ != nullptr) RETURN_IF_ERROR(ReadRows());
  if (cached_) KeepRead();
  TakeSeries();
  return cached_ ? JoinCached() : Status();
}

Status SubQueryRun::ReadRows() {
  const std::unique_ptr<PointScan> scan = std::move(scan_);
  // Where limits count they do so in order; and verdicts about names are one thread's.
  const bool in_parts = limits_.bytes_max == 0 && limits_.cells_max == 0 &&
                        (chosen_ || !filter_->decides()) && scan->RowsExpected() >= kRowsInParts;
  std::vector<std::unique_ptr<PointScan>> parts;
  if (in_parts) parts = scan->Cut(kPartsPerThread * (context_.helper_count + 1));
  return parts.empty() ? ReadInto(scan.get(), &AddSet()) : ReadParts(parts);
}

// Series are independent of each other until groups are merged, and parts follow each other in the
// order of the whole scan: so does what fails first.
Status SubQueryRun::ReadParts(std::span<const std::unique_ptr<PointScan>> parts) {
  std::deque<LimitCounter> counters;
  for (size_t i = 0; i < parts.size(); ++i) {
    AddSet();
    counters.emplace_back(limits_, context_.watch);
  }
  std::vector<Status> statuses(parts.size());
  RunSideBySide(&context_.helpers, context_.helper_count, parts.size(), [&](size_t i) {
    statuses[i] = ReadScan(parts[i].get(), &counters[i], &sets_[i]);
    return statuses[i].ok();
  });
  for (const Status& status : statuses) RETURN_IF_ERROR(status);
  for (size_t i = 0; i < parts.size(); ++i) Count(counters[i], sets_[i]);
  return {};
}

Status SubQueryRun::ReadInto(PointScan* scan, SeriesSet* set) {
  LimitCounter counter(limits_, context_.watch);
  RETURN_IF_ERROR(ReadScan(scan, &counter, set));
  Count(counter, *set);
  return {};
}

Status SubQueryRun::ReadScan(PointScan* scan, LimitCounter* counter, SeriesSet* set) {
  RETURN_IF_ERROR(set->Read(scan, counter));
  return set->Finish();
}

void SubQueryRun::Count(const LimitCounter& counter, const SeriesSet& set) {
  info_.stats.rows_before += counter.rows();
  info_.stats.points_before += counter.points();
  info_.stats.rows_after += set.rows_admitted();
  info_.stats.points_after += set.points_admitted();
}

void SubQueryRun::TakeSeries() {
  series_.clear();
  if (sets_.size() == 1) {
    series_.swap(sets_[0].series());
    return;
  }
  for (SeriesSet& set : sets_) {
    series_.insert(series_.end(), std::make_move_iterator(set.series().begin()),
                   std::make_move_iterator(set.series().end()));
    std::vector<Series>().swap(set.series());
  }
  SortSeries(&series_);  // each set is in order; all are where there is no salt
}

Status SubQueryRun::DeleteRows() {
  if (tsuids_.empty()) return {};
  if (pre_aggregates_ || info_.rollup_table != kRawTable) {
    return Status::InvalidArgument("Rollups and pre-aggregates cannot be deleted by a query");
  }
  if (filter_->decides()) {
    spec_.matcher = {};
    spec_.matcher.tsuids = tsuids_;
    std::sort(spec_.matcher.tsuids.begin(), spec_.matcher.tsuids.end());
  }
  return context_.points.DeleteRows(spec_);
}

// Names are those of the series' own tags: the TSUID's length says how many.
Status SubQueryRun::ChargeGroup(const SeriesGroup& group) {
  constexpr size_t kNameBytes = 64;  // a name and its place, roughly
  size_t bytes = sizeof(Group);
  if (!group.members.empty()) {
    const size_t tsuid = group.members[0]->tsuid.size();
    bytes += group.members.size() * (sizeof(Bytes) + tsuid) + tsuid / 3 * kNameBytes;
  }
  for (const codec::Annotation& a : group.annotations)
    bytes += sizeof(a) + a.description.size() + a.notes.size();
  RETURN_IF_ERROR(context_.watch.Step(kSeriesSteps * (1 + group.members.size())));
  return context_.watch.Charge(static_cast<int64_t>(bytes));
}

Status SubQueryRun::Evaluate() {
  for (Series& s : series_) {
    if (context_.query.request.delete_rows) tsuids_.push_back(s.tsuid);
    RETURN_IF_ERROR(context_.watch.Step(kSeriesSteps + s.points.size()));
    if (sub_.text.rate) {
      RETURN_IF_ERROR(ApplyRate(sub_.text.rate_options.value_or(RateOptions()), &s.points));
    }
    DropBefore(window_.begin_ms(), &s.points);
  }
  std::vector<SeriesGroup> groups =
      FormGroups(layout(), series_, sub_.aggregator->function == Function::kNone,
                 filter_->group_by(), window_);
  info_.stats.group_ns = Lap();

  std::optional<int64_t> infinite_ms;
  MergeOptions merge;
  merge.infinite_ms = &infinite_ms;
  merge.watch = &context_.watch;
  merge.aggregator = sub_.aggregator;
  merge.rate = sub_.text.rate;
  merge.last_ms = window_.end_ms();
  if (context_.trim) {
    merge.trim_begin_ms = context_.query.start_ms;
    merge.trim_end_ms = context_.query.end_ms;
  }
  std::vector<const PointColumns*> columns;
  for (const SeriesGroup& group : groups) {
    RETURN_IF_ERROR(ChargeGroup(group));
    Group out;
    out.query_index = index_;
    columns.clear();
    for (const Series* s : group.members) columns.push_back(&s->points);
    Result<PointColumns> points = MergeSeries(merge, columns);
    const Status failed = points.status();
    if (infinite_ms && context_.on_failure == OnFailure::kLeaveWhatPrecedes) {
      merge.last_ms = *infinite_ms - 1;
      points = MergeSeries(merge, columns);
    }
    ASSIGN_OR_RETURN(out.points, std::move(points));
    info_.stats.emitted_points += out.points.size();
    out.aggregate_ns = Lap();
    RETURN_IF_ERROR(Describe(layout(), group, &names_, &out));
    out.names_ns = Lap();
    info_.stats.aggregate_ns += out.aggregate_ns;
    info_.stats.names_ns += out.names_ns;
    groups_.push_back(std::move(out));
    RETURN_IF_ERROR(failed);
  }
  std::vector<Series>().swap(series_);
  sets_.clear();
  joined_memory_.Remove(joined_memory_.held());
  return {};
}

Status SubQueryRun::EvaluateHistograms() {
  for (Series& s : series_) {
    if (context_.query.request.delete_rows) tsuids_.push_back(s.tsuid);
    RETURN_IF_ERROR(context_.watch.Step(s.histograms.size()));
    if (grid_) s.histograms = Downsampled(s.histograms, *grid_);
  }
  const std::vector<SeriesGroup> groups =
      FormGroups(layout(), series_, sub_.aggregator->function == Function::kNone,
                 filter_->group_by(), window_);
  info_.stats.group_ns = Lap();
  std::vector<const HistogramColumn*> columns;
  for (const SeriesGroup& group : groups) {
    RETURN_IF_ERROR(ChargeGroup(group));
    Group described;
    described.query_index = index_;
    RETURN_IF_ERROR(Describe(layout(), group, &names_, &described));
    columns.clear();
    for (const Series* s : group.members) columns.push_back(&s->histograms);
    MemoryTally merged_memory(&context_.watch);
    for (const HistogramColumn* column : columns) {
      RETURN_IF_ERROR(merged_memory.Step(column->size()));
      RETURN_IF_ERROR(merged_memory.Add(HistogramBytes(*column)));
    }
    HistogramColumn merged = Merged(columns);
    // The buckets shown are those of the first histogram that was read, in range or not.
    std::optional<codec::SimpleHistogram> shape;
    if (sub_.text.show_histogram_buckets && !merged.empty()) shape = merged.front().histogram;
    if (context_.trim) {
      std::erase_if(merged, [this](const TimedHistogram& h) {
        return h.time_ms < context_.query.start_ms || h.time_ms > context_.query.end_ms;
      });
    }
    for (HistogramOutput& output :
         HistogramOutputs(merged, sub_.text.percentiles.value_or(std::vector<double>()),
                          shape ? &*shape : nullptr)) {
      Group out = described;
      out.metric += output.suffix;
      RETURN_IF_ERROR(context_.watch.Charge(
          static_cast<int64_t>(output.points.size() * (sizeof(int64_t) + sizeof(uint64_t)))));
      out.points = std::move(output.points);
      info_.stats.emitted_points += out.points.size();
      groups_.push_back(std::move(out));
    }
  }
  std::vector<Series>().swap(series_);
  sets_.clear();
  info_.stats.aggregate_ns = Lap();
  return {};
}

}  // namespace hg::query
