#include "query/sub_query_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "query/choose_series.h"
#include "query/side_by_side.h"
#include "storage/base/no_wait.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

// Minimum number of rows whose scan is divided between threads. Reading that many rows takes much
// longer than waking another thread. There are more parts than threads, so that no thread waits
// long for the last part. A query of so many rows does not start on an event loop, where it would
// be abandoned half done (README.md).
constexpr uint64_t kRowsInParts = 256;
constexpr size_t kPartsPerThread = 2;
// Rows that can be read by their statistics in the time of one row that is read by its points.
constexpr uint64_t kStatisticsInRow = 4;

// The longest text that std::string stores without heap memory.
constexpr size_t kInlineBytes = 15;

Result<Bytes> MetricOf(const ValidSubQuery& query, const KeyLayout& layout, NameMemo* names) {
  if (query.tsuids.empty()) return names->Find(UidKind::kMetric, *query.text.metric);
  return query.tsuids[0].substr(0, static_cast<size_t>(layout.metric_width));
}

// Row bases have 32 bits in keys, and OpenTSDB truncates the end of a scan to them. So an end
// beyond the year 2106 finds nothing (recorded).
RowRange RangeOf(const ScanWindow& window, bool extra_hour) {
  RowRange out;
  out.begin = static_cast<uint32_t>(window.begin_s);
  out.end = static_cast<uint32_t>(window.end_s + (extra_hour ? kRowSpan : 0));
  if (out.end < out.begin) out.end = out.begin;
  return out;
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
  if (!reads_tables() && scan_ == nullptr && !cached_) return {};  // there is no series to read
  RETURN_IF_ERROR(reads_tables() ? ReadTables() : Read());
  info_.stats.scan_ns = Lap();
  info_.stats.names_resolved = names_.resolved();
  info_.stats.scan = "metric " + ToHexUpper(spec_.metric) + ", rows [" +
                     std::to_string(spec_.rows.begin) + ", " + std::to_string(spec_.rows.end) + ")";
  Status evaluated = sub_.histograms ? EvaluateHistograms() : Evaluate();
  FreeWorkingMemory();
  if (context_.on_failure == OnFailure::kFail || evaluated.code() != StatusCode::kInvalidArgument)
    return evaluated;
  if (context_.on_failure == OnFailure::kLeaveNothing) groups_.clear();
  info_.failure = std::move(evaluated);
  return {};
}

// Frees memory early, because other sub-queries of the request may take long and need memory, too.
void SubQueryRun::FreeWorkingMemory() {
  sets_.clear();
  grid_.reset();
  grid_memory_.Remove(grid_memory_.held());
  if (context_.query.request.delete_rows) return;
  filter_.reset();
  spec_ = {};
  chosen_memory_.Remove(chosen_memory_.held());
}

// Charges the filters. The scan copies them, so their memory counts several times.
Status SubQueryRun::ChargeFilters() {
  constexpr size_t kFilterBytes = 256, kLiteralBytes = 96, kScanCopies = 3;
  constexpr uint64_t kNameSteps = 16;  // for a name that is looked up
  size_t bytes = 0, names = sub_.filters.size();
  for (const auto& filter : sub_.filters) {
    bytes += kFilterBytes + kScanCopies * kLiteralBytes * filter->literals().size();
    names += filter->literals().size();
  }
  for (const Bytes& tsuid : sub_.tsuids)
    bytes += (1 + kScanCopies) * (sizeof(tsuid) + (tsuid.size() > kInlineBytes ? tsuid.size() : 0));
  RETURN_IF_ERROR(chosen_memory_.Step(names * kNameSteps + sub_.tsuids.size()));
  return chosen_memory_.Add(static_cast<int64_t>(bytes));
}

Status SubQueryRun::Resolve() {
  const Request& request = context_.query.request;
  ASSIGN_OR_RETURN(spec_.metric, MetricOf(sub_, layout(), &names_));
  RETURN_IF_ERROR(ChargeFilters());
  ASSIGN_OR_RETURN(filter_, context_.filters.Resolve(sub_, context_.options, layout(), &names_));
  info_.filter_keys = filter_->filtered_keys();
  // The limits file has limits by metric names, so it cannot apply to a TSUID whose metric has no
  // name.
  Result<const Bytes*> metric = names_.NameOf(UidKind::kMetric, spec_.metric);
  ASSIGN_OR_RETURN(
      limits_, LimitsFor(context_.options, &context_.limits_file, metric.ok() ? **metric : Bytes(),
                         request.override_byte_limit, request.override_cell_limit));
  spec_.matcher = filter_->matcher();
  // A row with annotations only still makes an output (opentsdb-queries.md §9.1).
  spec_.objects = true;
  spec_.batch_rows = limits_.batch_rows;
  spec_.watch = &context_.watch;
  return PlanRaw(sub_.downsample ? &*sub_.downsample : nullptr);
}

Status SubQueryRun::MakeGrid(const DownsampleSpec& downsample) {
  grid_.emplace(downsample, window_, start_ms_, end_ms_);
  grid_memory_.Remove(grid_memory_.held());
  if (sub_.histograms) return {};  // histograms are never filled
  return grid_->BuildFillGrid(window_, &grid_memory_);
}

Status SubQueryRun::PlanRaw(const DownsampleSpec* downsample) {
  window_ = PlanScan(start_ms_, end_ms_, downsample != nullptr ? downsample->interval_ms() : 0);
  if (downsample != nullptr) RETURN_IF_ERROR(MakeGrid(*downsample));
  // Statistics of rows that fall into several buckets are useless.
  const bool whole_rows = downsample != nullptr && TakesStatistics(*downsample) &&
                          (downsample->run_all || downsample->interval_ms() >= kRowSpan * 1000);
  spec_.statistics = !sub_.histograms && (whole_rows || sub_.values);
  spec_.rows = RangeOf(window_, filter_->reads_extra_hour());
  return {};
}

// If there are limits, nothing is chosen, because OpenTSDB also counts rows of series that the
// filter refuses.
Result<bool> SubQueryRun::ChooseSeries() {
  bool counted = limits_.bytes_max > 0 || limits_.cells_max > 0;
  if (!filter_->decides() || counted || !context_.points.ListsFromIndex()) return true;
  ASSIGN_OR_RETURN(SeriesMatcher chosen,
                   query::ChooseSeries(context_.points, spec_.metric, &*filter_, &chosen_memory_));
  spec_.matcher = std::move(chosen);
  chosen_ = true;
  return !spec_.matcher.tsuids.empty();
}

SeriesSet& SubQueryRun::AddSet(size_t scans) {
  SeriesFilter* const filter = filter_->decides() && !chosen_ ? &*filter_ : nullptr;
  const BucketGrid* const grid = cached_ ? &cached_->grid : grid_ ? &*grid_ : nullptr;
  SeriesSet& set = sets_.emplace_back(layout(), grid, filter, &context_.watch);
  if (cached_ && !cached_->old.generations.empty()) {
    const auto end = static_cast<uint32_t>(cached_->old.missing.end);
    set.Record(&cached_->records.emplace_back(end, context_.cache->rows_max() / scans));
  }
  if (cached_) set.RefuseStrayRows();
  if (fold_) set.FoldInto(&*fold_);
  if (sub_.histograms) set.WantHistograms();
  if (sub_.values) set.WantValues(&*sub_.values);
  return set;
}

Status SubQueryRun::OpenScan() {
  cached_.reset();
  fold_.reset();
  RETURN_IF_ERROR(PlanPieces());
  if (pieces_.empty()) return OpenRawScan();
  OpenPieces();
  return {};
}

Status SubQueryRun::OpenRawScan(bool shorter) {
  PointScanSpec spec = spec_;
  cached_.reset();
  fold_.reset();
  if (shorter) RETURN_IF_ERROR(OpenFolded());
  if (scan_ == nullptr) {
    if (shorter && MayCache()) FindCached(&spec);
    if (RowsFound() >= kRowsInParts) RETURN_IF_ERROR(NoWait::MayWait());
    if (cached_ && spec.rows.begin >= spec.rows.end) return {};
    ASSIGN_OR_RETURN(scan_, context_.points.Scan(spec, context_.options.reconcile));
  }
  // The other sub-queries usually read the same series of other metrics, so they are counted, too.
  const uint64_t rows = scan_->RowsExpected() * context_.query.queries.size();
  const bool statistics = spec_.statistics && !sub_.values && scan_->ExpectsStatistics();
  if (rows >= kRowsInParts * (statistics ? kStatisticsInRow : 1))
    RETURN_IF_ERROR(NoWait::MayWait());
  return {};
}

Status SubQueryRun::Read() {
  if (!pieces_.empty()) {
    ASSIGN_OR_RETURN(const bool read, ReadPieces());
    if (read) return {};
    RETURN_IF_ERROR(OpenRawScan());
  }
  Status read = scan_ != nullptr ? ReadRows() : Status();
  // For the reasons see SeriesSet::RefuseStrayRows and SeriesSet::FoldInto
  if ((cached_ || fold_) && read.code() == StatusCode::kConflict) {
    sets_.clear();
    if (fold_ && MayCache())
      // ExtremeFold would fail again for the next query of this shape, so that query uses the
      // cache.
      context_.cache->PreferHours(Shape());
    RETURN_IF_ERROR(OpenRawScan(false));
    read = ReadRows();
  }
  RETURN_IF_ERROR(read);
  if (KeptSincePlanned()) {
    sets_.clear();
    RETURN_IF_ERROR(OpenScan());
    return Read();
  }
  if (cached_) KeepRead();
  if (fold_) TakeFolded();
  TakeSeries();
  return cached_ ? JoinCached() : Status();
}

Status SubQueryRun::ReadRows() {
  const std::unique_ptr<PointScan> scan = std::move(scan_);
  // Limits must count in order, cached verdicts belong to one thread, and an event loop does not
  // wait for other threads. In these cases the scan is not divided.
  const bool in_parts = NoWait::Current() == nullptr && limits_.bytes_max == 0 &&
                        limits_.cells_max == 0 && (chosen_ || !filter_->decides()) &&
                        scan->RowsExpected() >= kRowsInParts;
  std::vector<std::unique_ptr<PointScan>> parts;
  if (in_parts) parts = scan->Cut(kPartsPerThread * (context_.helper_count + 1));
  return parts.empty() ? ReadInto(scan.get(), &AddSet()) : ReadParts(parts);
}

// Series are independent until groups are merged. Parts are in the order of the whole scan, so the
// first failed part has the first error.
Status SubQueryRun::ReadParts(std::span<const std::unique_ptr<PointScan>> parts) {
  std::deque<LimitCounter> counters;
  for (size_t i = 0; i < parts.size(); ++i) {
    AddSet(parts.size());
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
  SortSeries(&series_);  // each set is sorted; without salt all series are sorted already
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

}  // namespace hg::query
