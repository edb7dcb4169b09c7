#include "query/promql/stored_series.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "query/rows/kept_scan.h"
#include "storage/base/checked_sort.h"
#include "storage/base/keyed_hash.h"
#include "storage/model/instant.h"
#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"
#include "storage/points/points.h"

namespace hg::query::promql {
namespace {

constexpr size_t kRefused = SIZE_MAX;
// The minimum number of rows whose scan is divided between threads, and the number of parts per
// thread. The minimum is that of query/rows/row_source.cc. Reading this many rows takes longer than
// waking another thread. A query of this many rows does not start on an event loop, because the
// loop would have to abandon it. Several parts per thread keep threads from waiting long for the
// last part.
constexpr uint64_t kRowsInParts = 256;
constexpr size_t kPartsPerThread = 2;
// The cost of looking up the names of matchers and of opening a scan, in steps of a RequestContext.
constexpr uint64_t kStepsPerRead = 512;
// The cost of listing a series, and the cost of building its labels. LabelSelector reports the cost
// of its matchers.
constexpr uint64_t kStepsPerSeries = 4, kStepsPerLabels = 32;
// If more metrics than this are listed within a time range, one lookup lists all of them.
constexpr size_t kMetricsApart = 16;

/// Returns the hours of the times from `from_ms` to `to_ms`. Both must be in [0, kInstantMaxMs].
RowRange HoursOf(int64_t from_ms, int64_t to_ms) {
  const auto base = [](int64_t ms) {
    return static_cast<uint64_t>(ms / 1000 - ms / 1000 % kRowSpan);
  };
  return {static_cast<uint32_t>(base(from_ms)), std::min(base(to_ms) + kRowSpan, RowRange().end)};
}

constexpr uint64_t kKeptDays = 8;  // days of rollups that are held in memory at once

Function FunctionOf(RolledValue value) {
  switch (value) {
    case RolledValue::kMean:
      return Function::kAvg;
    case RolledValue::kSum:
      return Function::kSum;
    case RolledValue::kCount:
      return Function::kCount;
    case RolledValue::kLeast:
      return Function::kMin;
    case RolledValue::kMost:
      break;
  }
  return Function::kMax;
}

double ValueOf(const RowStatistics& rolled, RolledValue value) {
  switch (value) {
    case RolledValue::kMean:
      return rolled.sum / rolled.count;
    case RolledValue::kSum:
      return rolled.sum;
    case RolledValue::kCount:
      return rolled.count;
    case RolledValue::kLeast:
      return rolled.least;
    case RolledValue::kMost:
      break;
  }
  return rolled.most;
}

/// Reads the rows of one scan and passes their samples to a sink.
class Reading {
 public:
  /// Creates a reader. If `selector` is not null, it decides which series are read.
  Reading(LabelSelector* selector, LabelNames* names, int64_t from_ms, int64_t to_ms,
          RequestContext* watch, SampleSink* sink)
      : selector_(selector),
        names_(*names),
        from_ms_(from_ms),
        to_ms_(to_ms),
        memory_(watch),
        sink_(*sink) {}

  /// Reads the scan. `alone` is false if further scans with later times of the same series are
  /// read.
  Status Read(PointScan* scan, bool alone = true) {
    // If in_turn_ is set, all rows of a series come together.
    in_turn_ = alone && scan->RepeatsSeries();
    RowHour row;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, scan->Next(&row));
      if (!more) return in_turn_ ? EndSeries() : Status();
      RETURN_IF_ERROR(memory_.Step(1 + row.value.size()));
      // A row that does not begin at a full hour has points after 2106: the 32 bits of its base
      // time have wrapped around. Its samples would not be in order with those of other rows.
      if (row.statistics == nullptr && row.base % kRowSpan != 0) continue;
      if (row.value.empty() && !Overlaps(row)) continue;
      ASSIGN_OR_RETURN(const size_t series, in_turn_ ? NextNumber(row.tsuid) : NumberOf(row.tsuid));
      if (series == kRefused) continue;
      RETURN_IF_ERROR(row.statistics != nullptr ? GiveRolled(row, series) : Give(row, series));
    }
  }

  /// The number of series in the sink, including those that were added before this object was
  /// created.
  size_t series = 0;

 private:
  struct Seen {
    Bytes tsuid;
    size_t number = kRefused;
  };

  /// Returns whether the row is a rollup interval that overlaps the requested time range.
  [[nodiscard]] bool Overlaps(const RowHour& row) const {
    const int64_t base_ms = int64_t{row.base} * 1000;
    return row.statistics != nullptr && base_ms <= to_ms_ &&
           base_ms + row.statistics->last_offset_ms >= from_ms_;
  }

  /// Adds the series to the sink and returns its number.
  Result<size_t> Number(ByteView tsuid) {
    if (selector_ != nullptr) {
      ASSIGN_OR_RETURN(const bool admitted, selector_->Admits(tsuid));
      if (!admitted) return kRefused;
    }
    RETURN_IF_ERROR(memory_.Step(kStepsPerLabels));
    ASSIGN_OR_RETURN(std::optional<Labels> labels, IfNamed(names_.LabelsOf(tsuid)));
    if (!labels) return kRefused;
    RETURN_IF_ERROR(sink_.AddSeries(*std::move(labels)));
    return series++;
  }

  // NextNumber and EndSeries are used if the scan returns all rows of a series together.
  Result<size_t> NextNumber(ByteView tsuid) {
    if (tsuid == current_.tsuid) return current_.number;
    RETURN_IF_ERROR(EndSeries());
    current_.tsuid = tsuid;
    ASSIGN_OR_RETURN(current_.number, Number(tsuid));
    return current_.number;
  }
  Status EndSeries() {
    return current_.number == kRefused ? Status() : sink_.EndSeries(current_.number);
  }

  // NumberOf is used if the rows of different series alternate.
  Result<size_t> NumberOf(ByteView tsuid) {
    if (!seen_.empty() && seen_[last_].tsuid == tsuid) return seen_[last_].number;
    if (const auto found = places_.find(tsuid); found != places_.end()) {
      last_ = found->second;
      return seen_[last_].number;
    }
    constexpr int64_t kEntryBytes = 128;
    RETURN_IF_ERROR(memory_.Add(kEntryBytes + static_cast<int64_t>(tsuid.size())));
    Seen seen{Bytes(tsuid), kRefused};
    ASSIGN_OR_RETURN(seen.number, Number(tsuid));
    last_ = seen_.size();
    seen_.push_back(std::move(seen));
    places_.emplace(seen_.back().tsuid, last_);
    return seen_.back().number;
  }

  Status Give(const RowHour& row, size_t series) {
    const int64_t base_ms = int64_t{row.base} * 1000;
    const auto place = [&](int64_t time_ms) {
      return static_cast<size_t>(
          std::lower_bound(row.offset_ms.begin(), row.offset_ms.end(), time_ms - base_ms) -
          row.offset_ms.begin());
    };
    // Raw cells may have points after the hour of their row, between those of the next row.
    const int64_t end_ms = std::min(to_ms_ + 1, base_ms + int64_t{kRowSpan} * 1000);
    const size_t first = place(from_ms_), count = std::max(place(end_ms), first) - first;
    times_ms_.resize(count);
    values_.resize(count);
    for (size_t i = 0; i < count; ++i) times_ms_[i] = base_ms + row.offset_ms[first + i];
    const uint64_t* const bits = row.value.data() + first;
    if (row.is_double.empty() && row.all_double) {
      for (size_t i = 0; i < count; ++i) values_[i] = std::bit_cast<double>(bits[i]);
    } else {
      for (size_t i = 0; i < count; ++i) {
        values_[i] = row.double_at(first + i) ? std::bit_cast<double>(bits[i])
                                              : static_cast<double>(static_cast<int64_t>(bits[i]));
      }
    }
    return sink_.AddSamples(series, times_ms_, values_);
  }

  Status GiveRolled(const RowHour& row, size_t series) {
    RolledSample sample;
    sample.begin_ms = int64_t{row.base} * 1000;
    sample.end_ms = sample.begin_ms + row.statistics->last_offset_ms;
    sample.ends_within = sample.end_ms <= to_ms_;
    sample.value = ValueOf(*row.statistics, sink_.rolled_value());
    sample.count = row.statistics->count;
    return sink_.AddRolled(series, sample);
  }

  LabelSelector* const selector_;
  LabelNames& names_;
  const int64_t from_ms_, to_ms_;
  MemoryTally memory_;
  SampleSink& sink_;
  bool in_turn_ = false;
  Seen current_;           // used if rows come series by series
  std::deque<Seen> seen_;  // in order of appearance; the addresses of its strings are stable
  std::unordered_map<std::string_view, size_t, keyed_hash::Hash> places_;  // TSUID → index in seen_
  size_t last_ = 0;                // index in seen_ of the last row's series
  std::vector<int64_t> times_ms_;  // working memory
  std::vector<double> values_;     // working memory
};

}  // namespace

/// One of the scans that read a metric concurrently. Each part has its own name cache.
struct StoredSeries::Part {
  Part(uid::Names& names, const LabelNaming& naming, const KeyLayout& layout, RequestContext* watch)
      : memo(names, watch), label_names(naming, layout, &memo) {}

  NameMemo memo;
  LabelNames label_names;
  std::unique_ptr<PointScan> scan;
  SampleSink* sink = nullptr;
  size_t series = 0;
  Status status;
};

StoredSeries::StoredSeries(Points& points, uid::Names& names, const Options& options,
                           RequestContext& watch, ReadingThreads threads, const LabelNaming& naming,
                           Store* cells, RolledHoursSource* rolled)
    : points_(points),
      options_(options),
      watch_(watch),
      uid_names_(names),
      memo_(names, &watch),
      names_(naming, points.layout(), &memo_, &names),
      threads_(std::move(threads)),
      cells_(cells),
      rolled_(cells != nullptr && options.rollups ? rolled : nullptr) {}

Status StoredSeries::Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms,
                          SampleSink* sink) {
  from_ms = std::max<int64_t>(from_ms, 0);
  to_ms = std::min(to_ms, kInstantMaxMs);
  if (from_ms > to_ms) return {};
  RETURN_IF_ERROR(watch_.Step(kStepsPerRead));
  ASSIGN_OR_RETURN(LabelSelector selector,
                   LabelSelector::Resolve(matchers, points_, &names_, &watch_));
  size_t series = 0;
  for (const auto& [metric, name] : selector.metrics()) {
    MemoryTally memory(&watch_);
    PointScanSpec spec;
    spec.metric = metric;
    spec.matcher = selector.matcher();
    spec.rows = HoursOf(from_ms, to_ms);
    spec.batch_rows = options_.batch_rows;
    spec.watch = &watch_;
    ASSIGN_OR_RETURN(const Choice choice, Choose(&selector, &spec, &memory));
    if (choice == Choice::kNone) continue;
    ASSIGN_OR_RETURN(const RolledHours rolled, PlanKept(spec));
    if (rolled.kept_before_s > spec.rows.begin) {
      RETURN_IF_ERROR(watch_.MayWait());
      Reading reading(choice == Choice::kAsk ? &selector : nullptr, &names_, from_ms, to_ms,
                      &watch_, sink);
      reading.series = series;
      RETURN_IF_ERROR(ReadKept(rolled, spec, sink->rolled_value(),
                               [&reading](PointScan* scan) { return reading.Read(scan, false); }));
      series = reading.series;
      continue;
    }
    ASSIGN_OR_RETURN(const std::unique_ptr<PointScan> scan, points_.Scan(spec, options_.reconcile));
    const bool many = scan->RowsExpected() >= kRowsInParts;
    if (many) RETURN_IF_ERROR(watch_.MayWait());
    if (many && choice == Choice::kAll && threads_.count > 1) {
      ASSIGN_OR_RETURN(const bool read, ReadParts(scan.get(), from_ms, to_ms, sink, &series));
      if (read) continue;
    }
    Reading reading(choice == Choice::kAsk ? &selector : nullptr, &names_, from_ms, to_ms, &watch_,
                    sink);
    reading.series = series;
    RETURN_IF_ERROR(reading.Read(scan.get()));
    series = reading.series;
  }
  return {};
}

Result<RolledHours> StoredSeries::PlanKept(const PointScanSpec& spec) {
  if (rolled_ == nullptr) return RolledHours();
  RolledHours rolled = rolled_->Of(spec.metric, {spec.rows.begin, spec.rows.begin});
  // An expression may read one metric thousands of times; the oldest state is kept.
  const auto [at, added] = plans_.try_emplace({spec.metric, spec.rows.begin}, rolled.kept_before_s);
  if (added) {
    constexpr int64_t kNodeBytes = 48;  // of a map, in addition to its value
    RETURN_IF_ERROR(plans_memory_.Add(kNodeBytes + int64_t{sizeof *at}));
  }
  return rolled;
}

Result<bool> StoredSeries::KeptMeanwhile() {
  bool kept = false;
  for (const auto& [read, kept_before_s] : plans_) {
    RETURN_IF_ERROR(watch_.Step(1));
    const auto& [metric, begin_s] = read;
    const uint32_t now_s = rolled_->Of(metric, {begin_s, begin_s}).kept_before_s;
    kept |= now_s != kept_before_s && now_s > begin_s;
  }
  plans_.clear();
  plans_memory_.Remove(plans_memory_.held());
  return kept;
}

// First reads the rollups of the hours that retention has reached, a few days at a time, because
// the rollups are held in memory. Then reads the other hours from raw points.
Status StoredSeries::ReadKept(const RolledHours& rolled, PointScanSpec spec, RolledValue value,
                              const std::function<Status(PointScan*)>& read) {
  const RolledSources sources{cells_, &points_, &*options_.rollups};
  const RowRange rows = spec.rows;
  // An interval lies within one day, so the days of the first and the last row are read completely.
  const uint64_t kept =
      std::min<uint64_t>((rows.end + kDayS - 1) / kDayS * kDayS, rolled.kept_before_s);
  for (uint64_t begin = rows.begin / kDayS * kDayS; begin < kept;) {
    spec.rows = {static_cast<uint32_t>(begin), kept};
    const auto scan_of = [&](auto open) {
      return open(sources, CoverKept(rolled, spec.rows), spec, options_.reconcile,
                  FunctionOf(value));
    };
    // Years without data are skipped. The first row may belong to a series that begins later in the
    // year than other series, so the loop continues up to a year before this row.
    RowHour first;
    ASSIGN_OR_RETURN(const bool any, scan_of(ScanPieces)->Next(&first));
    if (!any) break;
    const uint64_t year_before =
        first.base / kDayS * kDayS - std::min<uint64_t>(first.base / kDayS, 366) * kDayS;
    begin = std::max(begin, year_before);
    const uint64_t end = std::min(begin + kKeptDays * kDayS, kept);
    spec.rows = {static_cast<uint32_t>(begin), end};
    RETURN_IF_ERROR(read(scan_of(ScanKept).get()));
    begin = end;
  }
  if (rolled.kept_before_s >= rows.end) return {};
  spec.rows = {rolled.kept_before_s, rows.end};
  ASSIGN_OR_RETURN(const std::unique_ptr<PointScan> scan, points_.Scan(spec, options_.reconcile));
  return read(scan.get());
}

// Reads a scan in parts on several threads. The series are in the order of a single scan, so that
// sums over series give the same result.
Result<bool> StoredSeries::ReadParts(PointScan* scan, int64_t from_ms, int64_t to_ms,
                                     SampleSink* sink, size_t* series) {
  const size_t count = kPartsPerThread * threads_.count;
  const std::vector<SampleSink*> sinks = sink->Cut(count);
  if (sinks.empty()) return false;
  std::vector<std::unique_ptr<PointScan>> scans = scan->Cut(count);
  if (scans.empty()) {
    RETURN_IF_ERROR(sink->Join());
    return false;
  }
  std::deque<Part> parts;
  for (size_t i = 0; i < count; ++i) {
    Part& part = parts.emplace_back(uid_names_, names_.naming(), points_.layout(), &watch_);
    part.scan = std::move(scans[i]);
    part.sink = sinks[i];
  }
  threads_.side_by_side(count, [&](size_t i) {
    Part& part = parts[i];
    Reading reading(nullptr, &part.label_names, from_ms, to_ms, &watch_, part.sink);
    part.status = reading.Read(part.scan.get());
    part.series = reading.series;
    return part.status.ok();
  });
  for (const Part& part : parts) {
    RETURN_IF_ERROR(part.status);
    *series += part.series;
  }
  RETURN_IF_ERROR(sink->Join());
  return true;
}

// If names decide which series match, and the store can list series from an index, only the wanted
// series are read.
Result<StoredSeries::Choice> StoredSeries::Choose(LabelSelector* selector, PointScanSpec* spec,
                                                  MemoryTally* memory) {
  if (!selector->decides()) return Choice::kAll;
  if (!points_.ListsFromIndex()) return Choice::kAsk;
  std::vector<Bytes> chosen;
  RETURN_IF_ERROR(ListMetric(spec->metric, {}, selector, [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(2 * sizeof(Bytes) + tsuid.size())));
    chosen.emplace_back(tsuid);
    return {};
  }));
  RETURN_IF_ERROR(CheckedSort(&chosen, std::less<>(), memory));
  spec->matcher = {};
  spec->matcher.tsuids = std::move(chosen);
  return spec->matcher.tsuids.empty() ? Choice::kNone : Choice::kAll;
}

Status StoredSeries::ListMetric(ByteView metric, const RowRange& rows, LabelSelector* selector,
                                const std::function<Status(ByteView tsuid)>& visit) {
  Status status;
  const auto take = [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(watch_.Step(kStepsPerSeries));
    ASSIGN_OR_RETURN(const bool admitted, selector->Admits(tsuid));
    return admitted ? visit(tsuid) : Status();
  };
  const auto visit_one = [&](ByteView tsuid) {
    status = take(tsuid);
    return status.ok();
  };
  const bool all = rows.begin == RowRange().begin && rows.end == RowRange().end;
  RETURN_IF_ERROR(
      all ? points_.ListSeries(metric, selector->matcher(), &watch_, visit_one)
          : points_.ListSeriesWithin(metric, selector->matcher(), rows, &watch_, visit_one));
  return status;
}

Status StoredSeries::List(const Matchers& matchers, const std::optional<Times>& times,
                          const std::function<Status(ByteView tsuid)>& visit) {
  RowRange rows;
  if (times) {
    const int64_t from_ms = std::max<int64_t>(times->from_ms, 0);
    const int64_t to_ms = std::min(times->to_ms, kInstantMaxMs);
    if (from_ms > to_ms) return {};
    rows = HoursOf(from_ms, to_ms);
  }
  ASSIGN_OR_RETURN(LabelSelector selector,
                   LabelSelector::Resolve(matchers, points_, &names_, &watch_));
  std::set<Bytes> apart;  // metrics that are listed without a range
  for (const auto& [metric, name] : selector.metrics()) {
    if (!times || rolled_ == nullptr) break;
    RETURN_IF_ERROR(watch_.Step(kStepsPerSeries));
    if (rolled_->Of(metric, {rows.begin, rows.begin}).kept_before_s > rows.begin)
      apart.insert(metric);
  }
  // A lookup within a time range reads the day indexes of files, so one lookup for many metrics is
  // faster than many lookups.
  const bool together =
      times && points_.ListsFromIndex() && selector.metrics().size() - apart.size() > kMetricsApart;
  for (const auto& [metric, name] : selector.metrics()) {
    const bool all = apart.contains(metric);
    if (together && !all) continue;
    RETURN_IF_ERROR(ListMetric(metric, all ? RowRange() : rows, &selector, visit));
  }
  if (!together) return {};
  const auto width = static_cast<size_t>(names_.layout().metric_width);
  return ListMetric({}, rows, &selector, [&](ByteView tsuid) {
    const Bytes metric(tsuid.substr(0, width));
    return selector.metrics().contains(metric) && !apart.contains(metric) ? visit(tsuid) : Status();
  });
}

}  // namespace hg::query::promql
