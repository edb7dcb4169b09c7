#pragma once
// Selects the series of a sub-query. If the names in a filter can be resolved to UIDs, the filter
// becomes a condition of the scan (SeriesMatcher). For all other filters, SeriesFilter compares the
// names of tag values (opentsdb-queries.md §4; OpenTSDB TsdbQuery.findGroupBys).

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

/// The resolved filters of one sub-query. The object caches results and is therefore not
/// thread-safe.
class SeriesFilter {
 public:
  /// Looks up the UIDs of the names in the filters of the sub-query. `names` must outlive the
  /// SeriesFilter. NotFound: a name is unknown. InvalidArgument: a name is empty.
  static Result<SeriesFilter> Resolve(const ValidSubQuery& query, const Options& options,
                                      const KeyLayout& layout, NameMemo* names);

  /// Returns a copy for another sub-query. The copy uses `names` instead of the NameMemo of this
  /// object. Call this function before the first call of Admits.
  [[nodiscard]] SeriesFilter With(NameMemo* names) const {
    SeriesFilter out = *this;
    out.names_ = names;
    return out;
  }

  /// Returns the condition on series that the caller must pass to the scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// Returns true if the scan cannot evaluate all filters. In this case, the caller must check each
  /// scanned series with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty() || !one_differs_.empty(); }
  /// Returns whether the filters accept a series that the scan returned. Charges the work and the
  /// cached results to the context of the NameMemo. NotFound: a tag value has no name. Also returns
  /// the errors of TagFilter::Matches and of the context.
  Result<bool> Admits(ByteView tsuid);

  /// Returns the UIDs of the group-by tag keys, in ascending order. Series with different values of
  /// these tag keys are in different groups. If the list is empty, all series form one group.
  [[nodiscard]] const std::vector<Bytes>& group_by() const { return group_by_; }
  /// Returns the UIDs of the tag keys that have filters, in ascending order, without repeats. The
  /// response contains these tag keys if the request has showQuery. The list is empty if the
  /// sub-query selects its series by TSUIDs.
  [[nodiscard]] const std::vector<Bytes>& filtered_keys() const { return filtered_keys_; }
  /// Returns whether the scan must also read the hour that begins at the end of the scan window.
  /// OpenTSDB reads this hour if it uses its fuzzy row filter.
  [[nodiscard]] bool reads_extra_hour() const { return extra_hour_; }

 private:
  /// Those filters of one tag key that compare names. The object also caches, for each tag value,
  /// whether all these filters accept it.
  struct Check {
    Bytes tagk;
    std::vector<std::shared_ptr<const TagFilter>> filters;
    bool admits_missing = true;  // whether the filters accept a series without the tag key
    /// For the UID of each tag value that was checked, whether all filters accept the tag value.
    /// The memory is charged to the NameMemo.
    std::unordered_map<Bytes, bool> verdicts;
  };
  /// A tag key whose filter has several literals, and the UID of the lowest of these literals.
  /// Needed for quirk Q7 of opentsdb-queries.md.
  struct LowestLiteral {
    Bytes tagk;
    Bytes lowest;
  };

  SeriesFilter(const KeyLayout& layout, NameMemo* names) : layout_(&layout), names_(names) {}
  [[nodiscard]] ByteView ValueOf(ByteView tsuid, ByteView tagk) const;
  /// Computes whether the filters of `check` accept a tag value whose result is not in the cache
  /// yet.
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

/// The resolved filters of one request. If sub-queries have the same filters as the first
/// sub-query, the names in these filters are resolved only once. The object is thread-safe.
class ResolvedFilters {
 public:
  /// Returns the same result as SeriesFilter::Resolve. If the first sub-query has the same filters,
  /// the result is a copy of the result for the first sub-query. The sub-queries must outlive the
  /// object.
  Result<SeriesFilter> Resolve(const ValidSubQuery& query, const Options& options,
                               const KeyLayout& layout, NameMemo* names);

 private:
  std::mutex mutex_;
  /// The sub-query whose filters are in filter_; guarded by mutex_.
  const ValidSubQuery* of_ = nullptr;
  std::optional<SeriesFilter> filter_;  // a copy without cached results; guarded by mutex_
};

}  // namespace hg::query
