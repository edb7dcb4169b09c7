#pragma once
// Selects the series of a sub-query. Filters whose names were resolved become conditions of the
// scan (SeriesMatcher). SeriesFilter evaluates the other filters, with the names of tag values
// (opentsdb-queries.md §4; OpenTSDB TsdbQuery.findGroupBys).

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/plan/filter.h"
#include "query/plan/validate.h"
#include "query/request/options.h"
#include "query/series/name_memo.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// Not thread-safe, because it caches results.
class SeriesFilter {
 public:
  /// Resolves the names of the filters. NotFound or InvalidArgument: an unknown or empty name. The
  /// memo must outlive the filter.
  static Result<SeriesFilter> Resolve(const ValidSubQuery& query, const Options& options,
                                      const KeyLayout& layout, NameMemo* names);

  /// Returns a copy with its own memo, for another sub-query. Call this function before the first
  /// call of Admits.
  [[nodiscard]] SeriesFilter With(NameMemo* names) const {
    SeriesFilter out = *this;
    out.names_ = names;
    return out;
  }

  /// Returns the condition on series with which the caller must scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// Returns true if the scan cannot evaluate all filters. The caller must then check each scanned
  /// series with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty() || !one_differs_.empty(); }
  /// Returns whether the filters admit a series of the scan. Work and cached results are charged to
  /// the memo's context. NotFound: a tag value has no name. Also fails with errors of
  /// TagFilter::Matches and of the context.
  Result<bool> Admits(ByteView tsuid);

  /// Returns the tag keys whose values separate groups, in ascending order. If the result is empty,
  /// all series form one group.
  [[nodiscard]] const std::vector<Bytes>& group_by() const { return group_by_; }
  /// Returns the UIDs of the tag keys that have filters, ascending, without repeats. The response
  /// contains them if the request has showQuery. The list is empty if TSUIDs select the series.
  [[nodiscard]] const std::vector<Bytes>& filtered_keys() const { return filtered_keys_; }
  /// Returns true if the scan must also read the hour that begins at the end of the window, as
  /// OpenTSDB's fuzzy row filter does.
  [[nodiscard]] bool reads_extra_hour() const { return extra_hour_; }

 private:
  /// The filters of one tag key that compare names, in their order, and the cached results: for
  /// each value, whether all these filters admit it.
  struct Check {
    Bytes tagk;
    std::vector<std::shared_ptr<const TagFilter>> filters;
    bool admits_missing = true;                // whether a series without the key is admitted
    std::unordered_map<Bytes, bool> verdicts;  // key: UID of the tag value; charged to the memo
  };
  /// For quirk Q7 of opentsdb-queries.md: a tag key with several literals, and its lowest literal.
  struct LowestLiteral {
    Bytes tagk;
    Bytes lowest;
  };

  SeriesFilter(const KeyLayout& layout, NameMemo* names) : layout_(&layout), names_(names) {}
  [[nodiscard]] ByteView ValueOf(ByteView tsuid, ByteView tagk) const;
  /// Computes whether the filters admit a value that is not cached.
  Result<bool> Decide(const Check& check, ByteView value);

  const KeyLayout* layout_;
  NameMemo* names_;
  SeriesMatcher matcher_;
  std::vector<Check> checks_;
  std::vector<LowestLiteral> one_differs_;
  std::vector<Bytes> group_by_;
  std::vector<Bytes> filtered_keys_;
  bool extra_hour_ = false;
};

/// The filters of one request. All sub-queries with the same filters as the first sub-query share
/// one resolution of the names. Thread-safe.
class ResolvedFilters {
 public:
  /// Like SeriesFilter::Resolve. The sub-queries must outlive the object.
  Result<SeriesFilter> Resolve(const ValidSubQuery& query, const Options& options,
                               const KeyLayout& layout, NameMemo* names);

 private:
  std::mutex mutex_;
  const ValidSubQuery* of_ = nullptr;   // guarded by mutex_; the first sub-query
  std::optional<SeriesFilter> filter_;  // guarded by mutex_; a copy without cached results
};

}  // namespace hg::query
