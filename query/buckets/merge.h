#pragma once
// Merges the series of a group. The functions compute the times of the result, the value that each
// series contributes at each time, and whether the result is an integer (opentsdb-queries.md §6;
// OpenTSDB class AggregationIterator). They do no I/O.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "query/buckets/aggregator.h"
#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query {

struct MergeOptions {
  const Aggregator* aggregator = nullptr;
  // If true, the columns contain rates. Rates are not interpolated, and the first element of each
  // column is left out.
  bool rate = false;
  /// The result has no times after last_ms.
  int64_t last_ms = std::numeric_limits<int64_t>::max();
  /// The result has no times outside [trim_begin_ms, trim_end_ms]. Points outside this range are
  /// still used for interpolation.
  int64_t trim_begin_ms = std::numeric_limits<int64_t>::min();
  int64_t trim_end_ms = std::numeric_limits<int64_t>::max();
  /// If a result is infinite, MergeSeries stores the time of this result here. May be null.
  std::optional<int64_t>* infinite_ms = nullptr;
  /// The request context to which MergeSeries charges its work and its result. The memory of the
  /// result stays charged after the call. May be nullptr.
  RequestContext* watch = nullptr;
};

/// Returns the merged points of the group. `series` lists the series in group order
/// (opentsdb-queries.md §9.3); the points of each series must be in ascending order of time.
/// InvalidArgument: a result is infinite. Also returns the errors of `options.watch`.
Result<PointColumns> MergeSeries(const MergeOptions& options,
                                 std::span<const PointColumns* const> series);

/// The values that the series of a group contribute at one time of the result, in the order of the
/// group. A series that does not contribute at this time has no value in the list. The spans are
/// valid only during the call of `visit` in VisitInstants.
struct Instant {
  int64_t time_ms = 0;
  bool is_integer = false;  // true: the values are in `ints`; false: the values are in `doubles`
  std::span<const int64_t> ints;
  std::span<const double> doubles;
};

/// Calls `visit` for every time of the merged result, in ascending order. `visit` gets the values
/// of the series before aggregation. Returns the errors of `options.watch`.
Status VisitInstants(const MergeOptions& options, std::span<const PointColumns* const> series,
                     const std::function<void(const Instant&)>& visit);

}  // namespace hg::query
