#include "query/last_point.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "query/request/side_by_side.h"
#include "query/rows/special_points.h"
#include "storage/base/checked_sort.h"
#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

constexpr const char* kMetaFamily = "name";
constexpr const char* kCounter = "ts_ctr";

/// A series and the hours in which its newest point is searched.
struct Wanted {
  Bytes tsuid;
  int64_t newest_base = 0;
  int64_t oldest_base = 0;
};

/// The series that a sub-query asks for.
struct Asked {
  std::vector<Wanted> wanted;
  uint64_t steps = 0;  // not yet reported to the request context
};

/// Some series of one metric that one scan searches in the same hours.
struct Lookup {
  std::vector<Bytes> tsuids;  // sorted, without repeats
  int64_t newest_base = 0;
  int64_t oldest_base = 0;
  std::vector<LastPoint> found;  // parallel to `tsuids`; an empty TSUID = no point found
};

// Maximum number of series per scan. Other threads may scan for further series.
constexpr size_t kSeriesOfScan = 1024;
// The estimated size of a TSUID in bytes, for charging the memory of the result.
constexpr size_t kTsuidBytes = 32;
// The cost of reading a row of the meta table, in steps (a step is about a point).
constexpr uint64_t kMetaRowSteps = 16;

// The cost of a TSUID and of the names of a sub-query, in steps.
constexpr uint64_t kTsuidSteps = 4, kSubQuerySteps = 64;

int64_t HourOf(int64_t ms) { return ms / 1000 - ms / 1000 % kRowSpan; }

/// Finds the newest points for one request. Several threads call its functions, except Run.
class LastPointFinder {
 public:
  LastPointFinder(const LastPointQuery& query, const Options& options, int64_t now_ms,
                  Points* points, Store* cells, NameMemo* names, const SideBySide& side_by_side,
                  RequestContext* watch)
      : query_(query),
        options_(options),
        now_ms_(now_ms),
        points_(*points),
        cells_(*cells),
        names_(*names),
        side_by_side_(side_by_side),
        layout_(points->layout()),
        watch_(watch),
        memory_(watch) {}

  // Runs all sub-queries. If several sub-queries or scans fail, returns the error of the first
  // failed sub-query, otherwise of the first failed scan.
  Result<std::vector<LastPoint>> Run() {
    std::vector<Asked> asked(query_.queries.size());
    // Reading rows of the meta table is slow, so it runs on several threads.
    RETURN_IF_ERROR(ForAll(reads_meta_table(), asked.size(),
                           [&](size_t i) { return Want(query_.queries[i], &asked[i]); }));
    std::vector<Wanted> wanted;
    for (Asked& of : asked) {
      std::move(of.wanted.begin(), of.wanted.end(), std::back_inserter(wanted));
      std::vector<Wanted>().swap(of.wanted);
    }
    return Read(wanted);
  }

 private:
  [[nodiscard]] bool meta_tracking() const {
    return options_.tsuid_tracking || options_.tsuid_incrementing;
  }
  [[nodiscard]] bool reads_meta_table() const {
    return query_.back_scan_hours == 0 && meta_tracking();
  }

  Status Step(uint64_t steps) const { return watch_ != nullptr ? watch_->Step(steps) : Status(); }
  Status AddSteps(uint64_t steps, Asked* asked) const {
    asked->steps += steps;
    return asked->steps < kStepsAtOnce ? Status() : Step(std::exchange(asked->steps, 0));
  }

  /// Calls task(i), which returns a Status, for all i. Returns the error of the failed task with
  /// the lowest i.
  template <typename Task>
  Status ForAll(bool side_by_side, size_t count, Task&& task) const {
    if (!side_by_side || count < 2) {
      for (size_t i = 0; i < count; ++i) RETURN_IF_ERROR(task(i));
      return {};
    }
    std::vector<Status> statuses(count);
    side_by_side_(count, [&](size_t i) {
      statuses[i] = task(i);
      return statuses[i].ok();
    });
    for (const Status& status : statuses) RETURN_IF_ERROR(status);
    return {};
  }

  Status Want(const LastPointSubQuery& sub, Asked* asked) const {
    if (sub.tsuids.empty()) RETURN_IF_ERROR(WantMetric(sub, asked));
    for (const std::string& tsuid : sub.tsuids) {
      RETURN_IF_ERROR(AddSteps(kTsuidSteps, asked));
      RETURN_IF_ERROR(WantTsuid(tsuid, asked));
    }
    // The steps are reported even if they are few, because a request may have very many
    // sub-queries.
    return Step(kSubQuerySteps + std::exchange(asked->steps, 0));
  }

  Status WantHours(Bytes tsuid, int64_t newest_base, Asked* asked) const {
    constexpr size_t kCopies = 4;  // in `wanted`, in a scan, in `found`, in the result
    RETURN_IF_ERROR(AddSteps(1, asked));
    {
      std::lock_guard lock(memory_mutex_);
      RETURN_IF_ERROR(
          memory_.Add(static_cast<int64_t>(kCopies * (sizeof(LastPoint) + tsuid.size()))));
    }
    int64_t oldest = query_.back_scan_hours > newest_base / kRowSpan
                         ? 0
                         : newest_base - query_.back_scan_hours * kRowSpan;
    asked->wanted.push_back({std::move(tsuid), newest_base, oldest});
    return {};
  }

  Status WantTsuid(const std::string& text, Asked* asked) const {
    Bytes tsuid;
    if (text.empty()) return Status::InvalidArgument("UID was empty");
    if (!FromHex(text.size() % 2 == 0 ? text : "0" + text, &tsuid)) {
      return Status::InvalidArgument("The TSUID '" + text + "' contains illegal characters");
    }
    const auto least = static_cast<size_t>(layout_.metric_width + layout_.pair_width());
    if (tsuid.size() < least) {
      return Status::InvalidArgument(
          "TSUID must not be null and must have a metric and at least one tag pair: '" + text +
          "'");
    }
    int64_t base = HourOf(now_ms_);
    if (reads_meta_table()) {
      ASSIGN_OR_RETURN(Row row, cells_.Get(options_.meta_table, tsuid, kMetaFamily, {kCounter}));
      if (row.empty()) return Status::InvalidArgument("No metadata of the TSUID '" + text + "'");
      base = HourOf(row.cells[0].timestamp_ms);
    }
    // A TSUID with an incomplete tag pair is accepted, but it has no points.
    if (!codec::CheckTsuid(layout_, tsuid).ok()) return {};
    return WantHours(std::move(tsuid), base, asked);
  }

  Status WantMetric(const LastPointSubQuery& sub, Asked* asked) const {
    if (!sub.metric || sub.metric->empty())
      return Status::InvalidArgument("Metric cannot be null or empty");
    if (query_.back_scan_hours > 0 && sub.tags.empty()) {
      return Status::InvalidArgument("Tags cannot be null or empty when getting a TSUID");
    }
    ASSIGN_OR_RETURN(Bytes metric, names_.Find(UidKind::kMetric, *sub.metric));
    std::vector<Bytes> pairs;
    for (const auto& [key, value] : sub.tags) {
      ASSIGN_OR_RETURN(Bytes tagk, names_.Find(UidKind::kTagk, key));
      ASSIGN_OR_RETURN(Bytes tagv, names_.Find(UidKind::kTagv, value));
      pairs.push_back(tagk + tagv);
    }
    if (query_.back_scan_hours > 0) {
      return WantHours(codec::MakeTsuid(metric, std::move(pairs)), HourOf(now_ms_), asked);
    }
    return meta_tracking() ? WantTracked(metric, pairs, asked) : Status();
  }

  // Finds the series of the metric in the meta table that have all `pairs`. Adds each of them to
  // `asked`, with the hour in which it was last written.
  Status WantTracked(const Bytes& metric, const std::vector<Bytes>& pairs, Asked* asked) const {
    ScanSpec spec;
    spec.table = options_.meta_table;
    spec.start = metric;
    spec.stop = metric;
    while (!spec.stop.empty() && spec.stop.back() == '\xFF') spec.stop.pop_back();
    if (!spec.stop.empty()) ++spec.stop.back();
    spec.family = kMetaFamily;
    spec.qualifiers = {kCounter};
    spec.context = watch_;  // the scan may read very many rows without this column
    return ForEachRow(cells_, spec, [&](Row& row) -> Status {
      // Each pair of the request is compared with each pair of the row.
      const size_t row_pairs = row.key.size() / static_cast<size_t>(layout_.pair_width());
      RETURN_IF_ERROR(AddSteps(kMetaRowSteps + pairs.size() * (1 + row_pairs), asked));
      if (row.empty() || !codec::CheckTsuid(layout_, row.key).ok()) return {};
      if (pairs.size() > row_pairs) return {};
      auto has = [&](ByteView pair) {
        bool found = false;
        codec::ForEachPair(layout_, row.key, [&](ByteView k, ByteView v) {
          found = found || (pair.starts_with(k) && pair.substr(k.size()) == v);
        });
        return found;
      };
      if (!std::all_of(pairs.begin(), pairs.end(), has)) return {};
      return WantHours(std::move(row.key), HourOf(row.cells[0].timestamp_ms), asked);
    });
  }

  [[nodiscard]] ByteView MetricOf(const Bytes& tsuid) const {
    return ByteView(tsuid).substr(0, static_cast<size_t>(layout_.metric_width));
  }

  using LookupKey = std::tuple<ByteView, int64_t, int64_t>;  // metric and hours
  [[nodiscard]] LookupKey KeyOf(const Wanted& w) const {
    return {MetricOf(w.tsuid), w.oldest_base, w.newest_base};
  }

  Result<std::vector<LastPoint>> Read(std::vector<Wanted>& wanted) const {
    std::map<LookupKey, std::vector<size_t>> alike;  // indices in `wanted`, which owns the metrics
    std::vector<size_t>* as_before = nullptr;        // neighbors usually have the same key
    for (size_t i = 0; i < wanted.size(); ++i) {
      const LookupKey key = KeyOf(wanted[i]);
      if (as_before == nullptr || KeyOf(wanted[i - 1]) != key) as_before = &alike[key];
      as_before->push_back(i);
    }
    std::deque<Lookup> lookups;
    // For each wanted series: the lookup that searches it, and its index in Lookup::found.
    std::vector<std::pair<Lookup*, size_t>> found_at(wanted.size());
    for (auto& [key, places] : alike) {
      const auto by_tsuid = [&](size_t a, size_t b) { return wanted[a].tsuid < wanted[b].tsuid; };
      MemoryTally sorting(watch_);
      if (!std::is_sorted(places.begin(), places.end(), by_tsuid))
        RETURN_IF_ERROR(CheckedSort(&places, by_tsuid, &sorting));
      MakeLookups(wanted, places, &lookups, &found_at);
    }
    // Finding fewer series than this takes less time than waking another thread.
    constexpr size_t kSeriesSideBySide = 256;
    RETURN_IF_ERROR(ForAll(wanted.size() >= kSeriesSideBySide, lookups.size(),
                           [&](size_t i) { return Find(&lookups[i]); }));
    // The memory charged during the call is released at its end, but the result lives longer, so it
    // is charged again.
    if (watch_ != nullptr) {
      const size_t bytes = wanted.size() * (sizeof(LastPoint) + kTsuidBytes);
      RETURN_IF_ERROR(watch_->Charge(static_cast<int64_t>(bytes)));
    }
    RETURN_IF_ERROR(Step(wanted.size()));
    std::vector<LastPoint> out;
    out.reserve(wanted.size());
    for (const auto& [lookup, at] : found_at) {
      const LastPoint& found = lookup->found[at];
      if (!found.tsuid.empty()) out.push_back(found);  // copied, because a series may be repeated
    }
    return out;
  }

  // Moves the TSUIDs out of `wanted`. `places` is ordered by TSUID.
  static void MakeLookups(std::vector<Wanted>& wanted, const std::vector<size_t>& places,
                          std::deque<Lookup>* lookups,
                          std::vector<std::pair<Lookup*, size_t>>* found_at) {
    Lookup* lookup = nullptr;
    for (const size_t i : places) {
      Wanted& w = wanted[i];
      const bool repeated = lookup != nullptr && lookup->tsuids.back() == w.tsuid;
      if (!repeated && (lookup == nullptr || lookup->tsuids.size() == kSeriesOfScan)) {
        lookup = &lookups->emplace_back();
        lookup->newest_base = w.newest_base;
        lookup->oldest_base = w.oldest_base;
      }
      if (!repeated) lookup->tsuids.push_back(std::move(w.tsuid));
      (*found_at)[i] = {lookup, lookup->tsuids.size() - 1};
    }
  }

  Status Find(Lookup* lookup) const {
    PointScanSpec spec;
    spec.metric = MetricOf(lookup->tsuids[0]);
    spec.matcher.tsuids = std::move(lookup->tsuids);
    spec.rows = {static_cast<uint32_t>(lookup->oldest_base),
                 static_cast<uint64_t>(lookup->newest_base + kRowSpan)};
    spec.batch_rows = options_.batch_rows;
    spec.watch = watch_;
    const std::vector<Bytes>& tsuids = spec.matcher.tsuids;
    lookup->found.resize(tsuids.size());
    ASSIGN_OR_RETURN(std::unique_ptr<PointScan> scan, points_.Scan(spec, options_.reconcile));
    RowHour row;
    KeptPoints kept;
    size_t at = 0;  // index of the last row's series
    for (uint64_t steps = 0;;) {
      ASSIGN_OR_RETURN(bool more, scan->Next(&row));
      if (!more) break;
      steps += 1 + row.value.size();
      if (steps >= kStepsAtOnce) RETURN_IF_ERROR(Step(std::exchange(steps, 0)));
      PassOverSpecials(&row, &kept);
      if (row.value.empty()) continue;
      if (tsuids[at] != row.tsuid) {
        const size_t place = PlaceOf(tsuids, row.tsuid, at + 1);
        if (place == tsuids.size()) continue;
        at = place;
      }
      LastPoint& point = lookup->found[at];
      const int64_t time = int64_t{row.base} * 1000 + row.offset_ms.back();
      if (!point.tsuid.empty() && point.time_ms > time) continue;
      point.time_ms = time;
      point.bits = row.value.back();
      point.is_double = row.double_at(row.value.size() - 1);
      point.tsuid.assign(row.tsuid);
    }
    if (!query_.resolve_names) return {};
    // All threads share one memo, because most names also occur in series of other metrics. Other
    // threads scan while this one holds the lock.
    std::lock_guard lock(names_mutex_);
    for (LastPoint& point : lookup->found) {
      if (!point.tsuid.empty()) RETURN_IF_ERROR(NameSeries(&point));
    }
    return {};
  }

  /// Returns the index of `tsuid`, or tsuids.size() if it is not listed. `expected` is a guess that
  /// is tried first.
  static size_t PlaceOf(const std::vector<Bytes>& tsuids, ByteView tsuid, size_t expected) {
    if (expected < tsuids.size() && tsuids[expected] == tsuid) return expected;
    const auto at = std::lower_bound(tsuids.begin(), tsuids.end(), tsuid);
    return at == tsuids.end() || *at != tsuid ? tsuids.size()
                                              : static_cast<size_t>(at - tsuids.begin());
  }

  Status NameSeries(LastPoint* point) const {
    ASSIGN_OR_RETURN(const Bytes* name, names_.NameOf(UidKind::kMetric, MetricOf(point->tsuid)));
    const auto names = std::make_shared<LastPoint::Names>();
    names->metric = *name;
    size_t name_bytes = sizeof(*names) + name->size();
    names->tags.reserve(point->tsuid.size() / static_cast<size_t>(layout_.pair_width()));
    Status status;
    codec::ForEachPair(layout_, point->tsuid, [&](ByteView tagk, ByteView tagv) {
      if (!status.ok()) return;
      Result<const Bytes*> key = names_.NameOf(UidKind::kTagk, tagk);
      Result<const Bytes*> value = names_.NameOf(UidKind::kTagv, tagv);
      status = !key.ok() ? key.status() : value.status();
      if (!status.ok()) return;
      name_bytes += 2 * sizeof(Bytes) + (*key)->size() + (*value)->size();
      names->tags.emplace_back(**key, **value);
    });
    RETURN_IF_ERROR(status);
    point->names = names;
    return watch_ != nullptr ? watch_->Charge(static_cast<int64_t>(name_bytes)) : Status();
  }

  const LastPointQuery& query_;
  const Options& options_;
  const int64_t now_ms_;
  Points& points_;
  Store& cells_;
  NameMemo& names_;  // any thread may call Find; guarded by names_mutex_ otherwise
  mutable std::mutex names_mutex_;
  const SideBySide& side_by_side_;
  const KeyLayout& layout_;
  RequestContext* const watch_;
  mutable MemoryTally memory_;  // working memory; guarded by memory_mutex_
  mutable std::mutex memory_mutex_;
};

}  // namespace

Result<std::vector<LastPoint>> FindLastPoints(const LastPointQuery& query, const Options& options,
                                              int64_t now_ms, Points* points, Store* cells,
                                              NameMemo* names, const SideBySide& side_by_side,
                                              RequestContext* watch) {
  return LastPointFinder(query, options, now_ms, points, cells, names, side_by_side, watch).Run();
}

}  // namespace hg::query
