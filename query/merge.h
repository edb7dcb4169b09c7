#pragma once
// Merging the series of a group: which instants are emitted, what each series contributes, whether
// the result is an integer (spec query.md §6; OpenTSDB class AggregationIterator). Pure.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "query/aggregator.h"
#include "query/answer.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"

namespace hg::query {

struct MergeOptions {
  const Aggregator* aggregator = nullptr;
  bool rate = false;  // the columns are rates: no interpolation, their first element is not emitted
  int64_t last_ms =
      std::numeric_limits<int64_t>::max();  // instants beyond the scan window are not emitted
  int64_t trim_begin_ms =
      std::numeric_limits<int64_t>::min();  // nor those outside the query's range, both inclusive
  int64_t trim_end_ms = std::numeric_limits<int64_t>::max();
  /// Where the instant of an infinite result is left, if wanted.
  std::optional<int64_t>* infinite_ms = nullptr;
  /// Told of the steps; the result is charged to it and stays so. nullptr: nobody watches.
  WorkWatch* watch = nullptr;
};

/// The group's points. `series` in group order (§9.3), each ascending. InvalidArgument: a result is
/// infinite. Else what the watch says.
Result<PointColumns> MergeSeries(const MergeOptions& options,
                                 std::span<const PointColumns* const> series);

/// What the active series contribute at one emitted instant, in group order; borrowed.
struct Instant {
  int64_t time_ms = 0;
  bool is_integer = false;  // which of the spans counts
  std::span<const int64_t> ints;
  std::span<const double> doubles;
};

/// Calls `visit` for every emitted instant, before anything is aggregated. Fails as the watch says.
Status VisitInstants(const MergeOptions& options, std::span<const PointColumns* const> series,
                     const std::function<void(const Instant&)>& visit);

}  // namespace hg::query
