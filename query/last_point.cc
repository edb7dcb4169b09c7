#include "query/last_point.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

constexpr const char* kMetaFamily = "name";
constexpr const char* kCounter = "ts_ctr";

/// A series and the hours in which its newest point is looked for.
struct Wanted {
  Bytes tsuid;
  int64_t newest_base = 0;
  int64_t oldest_base = 0;
};

int64_t HourOf(int64_t ms) { return ms / 1000 - ms / 1000 % kRowSpan; }

class LastPointFinder {
 public:
  LastPointFinder(const LastPointQuery& query, const Options& options, int64_t now_ms,
                  Points* points, Store* cells, NameMemo* names, const SideBySide& side_by_side,
                  WorkWatch* watch)
      : query_(query),
        options_(options),
        now_ms_(now_ms),
        points_(*points),
        cells_(*cells),
        names_(*names),
        side_by_side_(side_by_side),
        layout_(points->layout()),
        memory_(watch),
        watch_(watch) {}

  Result<std::vector<LastPoint>> Run() {
    for (const LastPointSubQuery& sub : query_.queries) {
      if (sub.tsuids.empty()) {
        RETURN_IF_ERROR(WantMetric(sub));
      } else {
        for (const std::string& tsuid : sub.tsuids) RETURN_IF_ERROR(WantTsuid(tsuid));
      }
    }
    return Read();
  }

 private:
  [[nodiscard]] bool meta_tracking() const {
    return options_.tsuid_tracking || options_.tsuid_incrementing;
  }

  Status WantHours(Bytes tsuid, int64_t newest_base) {
    constexpr size_t kCopies = 4;  // wanted, in a scan, found, given
    RETURN_IF_ERROR(memory_.Step(1));
    RETURN_IF_ERROR(
        memory_.Add(static_cast<int64_t>(kCopies * (sizeof(LastPoint) + tsuid.size()))));
    int64_t oldest = query_.back_scan_hours > newest_base / kRowSpan
                         ? 0
                         : newest_base - query_.back_scan_hours * kRowSpan;
    wanted_.push_back({std::move(tsuid), newest_base, oldest});
    return {};
  }

  Status WantTsuid(const std::string& text) {
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
    if (query_.back_scan_hours == 0 && meta_tracking()) {
      ASSIGN_OR_RETURN(Row row, cells_.Get(options_.meta_table, tsuid, kMetaFamily, {kCounter}));
      if (row.empty()) return Status::InvalidArgument("No metadata of the TSUID '" + text + "'");
      base = HourOf(row.cells[0].timestamp_ms);
    }
    // One with half a pair is looked for, and not found.
    if (!codec::CheckTsuid(layout_, tsuid).ok()) return {};
    return WantHours(std::move(tsuid), base);
  }

  Status WantMetric(const LastPointSubQuery& sub) {
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
      return WantHours(codec::MakeTsuid(metric, std::move(pairs)), HourOf(now_ms_));
    }
    return meta_tracking() ? WantTracked(metric, pairs) : Status();
  }

  // Every series of the metric in the meta table that has all pairs, in the hour it was last
  // written.
  Status WantTracked(const Bytes& metric, const std::vector<Bytes>& pairs) {
    ScanSpec spec;
    spec.table = options_.meta_table;
    spec.start = metric;
    spec.stop = metric;
    while (!spec.stop.empty() && spec.stop.back() == '\xFF') spec.stop.pop_back();
    if (!spec.stop.empty()) ++spec.stop.back();
    spec.family = kMetaFamily;
    spec.qualifiers = {kCounter};
    return ForEachRow(cells_, spec, [&](Row& row) -> Status {
      if (row.empty() || !codec::CheckTsuid(layout_, row.key).ok()) return {};
      auto has = [&](const Bytes& pair) {
        bool found = false;
        codec::ForEachPair(layout_, row.key, [&](ByteView k, ByteView v) {
          found = found || (Bytes(k) + Bytes(v)) == pair;
        });
        return found;
      };
      if (!std::all_of(pairs.begin(), pairs.end(), has)) return {};
      return WantHours(std::move(row.key), HourOf(row.cells[0].timestamp_ms));
    });
  }

  /// Series of one metric that are looked for in the same hours: one scan finds them all.
  struct Lookup {
    std::vector<Bytes> tsuids;     // sorted, each once
    std::vector<LastPoint> found;  // beside them; without a TSUID: none yet
  };
  using LookupKey = std::tuple<Bytes, int64_t, int64_t>;  // metric and hours

  [[nodiscard]] LookupKey KeyOf(const Wanted& w) const {
    return {w.tsuid.substr(0, static_cast<size_t>(layout_.metric_width)), w.oldest_base,
            w.newest_base};
  }

  Result<std::vector<LastPoint>> Read() {
    std::map<LookupKey, Lookup> lookups;
    std::vector<Lookup*> of_wanted;  // beside wanted_, whose neighbours are mostly of one lookup
    for (const Wanted& w : wanted_) {
      LookupKey key = KeyOf(w);
      const bool as_before = !of_wanted.empty() && KeyOf(wanted_[of_wanted.size() - 1]) == key;
      of_wanted.push_back(as_before ? of_wanted.back() : &lookups[std::move(key)]);
      of_wanted.back()->tsuids.push_back(w.tsuid);
    }
    std::vector<std::pair<const LookupKey*, Lookup*>> scans;
    for (auto& [key, lookup] : lookups) {
      std::sort(lookup.tsuids.begin(), lookup.tsuids.end());
      lookup.tsuids.erase(std::unique(lookup.tsuids.begin(), lookup.tsuids.end()),
                          lookup.tsuids.end());
      lookup.found.resize(lookup.tsuids.size());
      scans.emplace_back(&key, &lookup);
    }
    RETURN_IF_ERROR(ScanAll(scans));
    std::vector<LastPoint> out;
    out.reserve(wanted_.size());
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const LastPoint& found = of_wanted[i]->found[PlaceOf(*of_wanted[i], wanted_[i].tsuid)];
      if (found.tsuid.empty()) continue;
      out.push_back(found);
      if (query_.resolve_names) RETURN_IF_ERROR(NameSeries(&out.back()));
    }
    return out;
  }

  /// Of a TSUID that is looked for.
  static size_t PlaceOf(const Lookup& lookup, ByteView tsuid) {
    return static_cast<size_t>(std::lower_bound(lookup.tsuids.begin(), lookup.tsuids.end(), tsuid) -
                               lookup.tsuids.begin());
  }

  // The first failure in their order counts. Few series are found sooner than a thread wakes.
  Status ScanAll(std::span<const std::pair<const LookupKey*, Lookup*>> scans) const {
    constexpr size_t kSeriesSideBySide = 256;
    if (wanted_.size() < kSeriesSideBySide) {
      for (const auto& [key, lookup] : scans) RETURN_IF_ERROR(Scan(*key, lookup));
      return {};
    }
    std::vector<Status> statuses(scans.size());
    side_by_side_(scans.size(), [&](size_t i) {
      statuses[i] = Scan(*scans[i].first, scans[i].second);
      return statuses[i].ok();
    });
    for (const Status& status : statuses) RETURN_IF_ERROR(status);
    return {};
  }

  Status Scan(const LookupKey& key, Lookup* lookup) const {
    const auto& [metric, oldest, latest] = key;
    PointScanSpec spec;
    spec.metric = metric;
    spec.matcher.tsuids = lookup->tsuids;
    spec.rows = {static_cast<uint32_t>(oldest), static_cast<uint64_t>(latest + kRowSpan)};
    spec.batch_rows = options_.batch_rows;
    spec.watch = watch_;
    ASSIGN_OR_RETURN(std::unique_ptr<PointScan> scan, points_.Scan(spec, options_.reconcile));
    RowHour row;
    size_t at = 0;  // of the last row's series
    for (;;) {
      ASSIGN_OR_RETURN(bool more, scan->Next(&row));
      if (!more) return {};
      if (watch_ != nullptr) RETURN_IF_ERROR(watch_->Step(1 + row.value.size()));
      if (row.value.empty()) continue;
      if (lookup->tsuids[at] != row.tsuid) {
        const size_t place = PlaceOf(*lookup, row.tsuid);
        if (place == lookup->tsuids.size() || lookup->tsuids[place] != row.tsuid) continue;
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
  }

  Status NameSeries(LastPoint* point) {
    ByteView metric = ByteView(point->tsuid).substr(0, static_cast<size_t>(layout_.metric_width));
    ASSIGN_OR_RETURN(const Bytes* name, names_.NameOf(UidKind::kMetric, metric));
    point->metric = *name;
    Status status;
    codec::ForEachPair(layout_, point->tsuid, [&](ByteView tagk, ByteView tagv) {
      if (!status.ok()) return;
      Result<const Bytes*> key = names_.NameOf(UidKind::kTagk, tagk);
      Result<const Bytes*> value = names_.NameOf(UidKind::kTagv, tagv);
      status = !key.ok() ? key.status() : value.status();
      if (status.ok()) point->tags.emplace_back(**key, **value);
    });
    return status;
  }

  const LastPointQuery& query_;
  const Options& options_;
  const int64_t now_ms_;
  Points& points_;
  Store& cells_;
  NameMemo& names_;
  const SideBySide& side_by_side_;
  const KeyLayout& layout_;
  MemoryTally memory_;
  WorkWatch* const watch_;
  std::vector<Wanted> wanted_;
};

}  // namespace

Result<std::vector<LastPoint>> FindLastPoints(const LastPointQuery& query, const Options& options,
                                              int64_t now_ms, Points* points, Store* cells,
                                              NameMemo* names, const SideBySide& side_by_side,
                                              WorkWatch* watch) {
  return LastPointFinder(query, options, now_ms, points, cells, names, side_by_side, watch).Run();
}

}  // namespace hg::query
