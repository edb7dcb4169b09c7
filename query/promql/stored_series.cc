#include "query/promql/stored_series.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "storage/model/key_layout.h"

namespace hg::query::promql {
namespace {

constexpr size_t kRefused = SIZE_MAX;
constexpr int64_t kNewestMs = INT64_C(0xFFFFFFFF) * 1000;  // rows are of 32-bit seconds

RowRange HoursOf(int64_t from_ms, int64_t to_ms) {
  const auto base = [](int64_t ms) { return ms / 1000 - ms / 1000 % kRowSpan; };
  return {static_cast<uint32_t>(base(from_ms)), static_cast<uint64_t>(base(to_ms) + kRowSpan)};
}

/// One selector's reading: rows in, samples out.
class Reading {
 public:
  Reading(LabelSelector* selector, LabelNames* names, int64_t from_ms, int64_t to_ms,
          WorkWatch* watch, SampleSink* sink)
      : selector_(*selector),
        names_(*names),
        from_ms_(from_ms),
        to_ms_(to_ms),
        memory_(watch),
        sink_(*sink) {}

  Status Read(PointScan* scan) {
    RowHour row;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, scan->Next(&row));
      if (!more) return {};
      RETURN_IF_ERROR(memory_.Step(1 + row.value.size()));
      if (row.value.empty()) continue;
      ASSIGN_OR_RETURN(const size_t series, NumberOf(row.tsuid));
      if (series != kRefused) RETURN_IF_ERROR(Give(row, series));
    }
  }

 private:
  struct Seen {
    Bytes tsuid;
    size_t number = kRefused;
  };

  Result<size_t> NumberOf(ByteView tsuid) {
    if (!seen_.empty() && seen_[last_].tsuid == tsuid) return seen_[last_].number;
    if (const auto found = places_.find(tsuid); found != places_.end()) {
      last_ = found->second;
      return seen_[last_].number;
    }
    constexpr int64_t kEntryBytes = 128;
    RETURN_IF_ERROR(memory_.Add(kEntryBytes + static_cast<int64_t>(tsuid.size())));
    Seen seen{Bytes(tsuid), kRefused};
    ASSIGN_OR_RETURN(const bool admitted, selector_.Admits(tsuid));
    if (admitted) {
      ASSIGN_OR_RETURN(Labels labels, names_.LabelsOf(tsuid));
      RETURN_IF_ERROR(sink_.AddSeries(std::move(labels)));
      seen.number = series_++;
    }
    last_ = seen_.size();
    seen_.push_back(std::move(seen));
    places_.emplace(seen_.back().tsuid, last_);
    return seen_.back().number;
  }

  Status Give(const RowHour& row, size_t series) {
    times_ms_.clear();
    values_.clear();
    const int64_t base_ms = int64_t{row.base} * 1000;
    for (size_t i = 0; i < row.value.size(); ++i) {
      const int64_t time_ms = base_ms + row.offset_ms[i];
      if (time_ms < from_ms_ || time_ms > to_ms_) continue;
      times_ms_.push_back(time_ms);
      values_.push_back(row.double_at(i) ? std::bit_cast<double>(row.value[i])
                                         : static_cast<double>(static_cast<int64_t>(row.value[i])));
    }
    return sink_.AddSamples(series, times_ms_, values_);
  }

  LabelSelector& selector_;
  LabelNames& names_;
  const int64_t from_ms_, to_ms_;
  MemoryTally memory_;
  SampleSink& sink_;
  size_t series_ = 0;      // given to the sink
  std::deque<Seen> seen_;  // in order of appearance; its strings do not move
  std::unordered_map<std::string_view, size_t> places_;  // in seen_, by its TSUIDs
  size_t last_ = 0;                                      // of the last row, in seen_
  std::vector<int64_t> times_ms_;                        // scratch
  std::vector<double> values_;                           // scratch
};

}  // namespace

StoredSeries::StoredSeries(Points& points, uid::Names& names, const Options& options,
                           WorkWatch& watch)
    : points_(points),
      options_(options),
      watch_(watch),
      memo_(names, &watch),
      names_(LabelNaming(), points.layout(), &memo_) {}

Status StoredSeries::Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms,
                          SampleSink* sink) {
  from_ms = std::max<int64_t>(from_ms, 0);
  to_ms = std::min(to_ms, kNewestMs);
  if (from_ms > to_ms) return {};
  ASSIGN_OR_RETURN(LabelSelector selector,
                   LabelSelector::Resolve(matchers, points_, &names_, &watch_));
  Reading reading(&selector, &names_, from_ms, to_ms, &watch_, sink);
  for (const auto& [metric, name] : selector.metrics()) {
    MemoryTally memory(&watch_);
    PointScanSpec spec;
    spec.metric = metric;
    spec.matcher = selector.matcher();
    spec.rows = HoursOf(from_ms, to_ms);
    spec.batch_rows = options_.batch_rows;
    spec.watch = &watch_;
    ASSIGN_OR_RETURN(const bool any, Choose(&selector, &spec, &memory));
    if (!any) continue;
    ASSIGN_OR_RETURN(const std::unique_ptr<PointScan> scan, points_.Scan(spec, options_.reconcile));
    RETURN_IF_ERROR(reading.Read(scan.get()));
  }
  return {};
}

// Where names decide, and series are listed cheaply, only those that are meant are read.
Result<bool> StoredSeries::Choose(LabelSelector* selector, PointScanSpec* spec,
                                  MemoryTally* memory) {
  if (!selector->decides() || !points_.ListsFromIndex()) return true;
  std::vector<Bytes> chosen;
  RETURN_IF_ERROR(ListMetric(spec->metric, selector, [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(2 * sizeof(Bytes) + tsuid.size())));
    chosen.emplace_back(tsuid);
    return {};
  }));
  std::sort(chosen.begin(), chosen.end());
  spec->matcher = {};
  spec->matcher.tsuids = std::move(chosen);
  return !spec->matcher.tsuids.empty();
}

Status StoredSeries::ListMetric(ByteView metric, LabelSelector* selector,
                                const std::function<Status(ByteView tsuid)>& visit) {
  Status status;
  const auto take = [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(watch_.Step(1));
    ASSIGN_OR_RETURN(const bool admitted, selector->Admits(tsuid));
    return admitted ? visit(tsuid) : Status();
  };
  RETURN_IF_ERROR(points_.ListSeries(metric, selector->matcher(), [&](ByteView tsuid) {
    status = take(tsuid);
    return status.ok();
  }));
  return status;
}

Status StoredSeries::List(const Matchers& matchers,
                          const std::function<Status(ByteView tsuid)>& visit) {
  ASSIGN_OR_RETURN(LabelSelector selector,
                   LabelSelector::Resolve(matchers, points_, &names_, &watch_));
  for (const auto& [metric, name] : selector.metrics())
    RETURN_IF_ERROR(ListMetric(metric, &selector, visit));
  return {};
}

}  // namespace hg::query::promql
