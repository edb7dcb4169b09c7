#pragma once
// Which series a sub-query wants: filters with their names resolved, split into what a scan can
// decide (SeriesMatcher) and what is decided here, on the names of tag values (spec query.md §4;
// OpenTSDB TsdbQuery.findGroupBys).

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/filter.h"
#include "query/name_memo.h"
#include "query/options.h"
#include "query/validate.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// One thread at a time (it remembers verdicts).
class SeriesFilter {
 public:
  /// Resolves the names. NotFound / InvalidArgument: an unknown or empty one. The memo outlives the
  /// filter.
  static Result<SeriesFilter> Resolve(const ValidSubQuery& query, const Options& options,
                                      const KeyLayout& layout, NameMemo* names);

  /// The same for another sub-query with its own memo, before any verdict.
  [[nodiscard]] SeriesFilter With(NameMemo* names) const {
    SeriesFilter out = *this;
    out.names_ = names;
    return out;
  }

  /// What to ask of the scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// True if series given by the scan must be asked about with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty() || !one_differs_.empty(); }
  /// Whether a series of the scan takes part. NotFound: a tag value without a name.
  Result<bool> Admits(ByteView tsuid);

  /// Tag keys that separate groups, ascending; empty = one group.
  [[nodiscard]] const std::vector<Bytes>& group_by() const { return group_by_; }
  /// UIDs of the filtered tag keys, ascending, each once (echoed with showQuery); none beside
  /// TSUIDs.
  [[nodiscard]] const std::vector<Bytes>& filtered_keys() const { return filtered_keys_; }
  /// True if the scan must also read the hour that begins at the window's end: what OpenTSDB's
  /// fuzzy row filter does.
  [[nodiscard]] bool reads_extra_hour() const { return extra_hour_; }

 private:
  struct Check {
    Bytes tagk;
    std::shared_ptr<const TagFilter> filter;
    std::unordered_map<Bytes, bool> verdicts;  // by tag value UID
  };
  /// Quirk Q7: a key with several literals, and the lowest of them.
  struct LowestLiteral {
    Bytes tagk;
    Bytes lowest;
  };

  SeriesFilter(const KeyLayout& layout, NameMemo* names) : layout_(&layout), names_(names) {}
  [[nodiscard]] ByteView ValueOf(ByteView tsuid, ByteView tagk) const;

  const KeyLayout* layout_;
  NameMemo* names_;
  SeriesMatcher matcher_;
  std::vector<Check> checks_;
  std::vector<LowestLiteral> one_differs_;
  std::vector<Bytes> group_by_;
  std::vector<Bytes> filtered_keys_;
  bool extra_hour_ = false;
};

/// Filters of one request, resolved once for the sub-queries that have those of the first one.
/// Thread-safe.
class ResolvedFilters {
 public:
  /// As SeriesFilter::Resolve. The sub-queries of the request outlive this.
  Result<SeriesFilter> Resolve(const ValidSubQuery& query, const Options& options,
                               const KeyLayout& layout, NameMemo* names);

 private:
  std::mutex mutex_;
  const ValidSubQuery* of_ = nullptr;   // guarded by mutex_
  std::optional<SeriesFilter> filter_;  // guarded by mutex_: of of_, without verdicts
};

}  // namespace hg::query
