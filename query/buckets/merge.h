#pragma once
// Merges the series of a group: computes the instants of the result, the value that each series
// contributes, and whether the result is an integer (opentsdb-queries.md §6; OpenTSDB class
// AggregationIterator). Free of I/O.

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
  // Whether the columns are rates, which are not interpolated and whose first element is left out.
  bool rate = false;
  int64_t last_ms =
      std::numeric_limits<int64_t>::max();  // instants after the scan window are not in the result
  int64_t trim_begin_ms =
      std::numeric_limits<int64_t>::min();  // the result has no instants before
                                            // trim_begin_ms or after trim_end_ms
  int64_t trim_end_ms = std::numeric_limits<int64_t>::max();
  /// Where MergeSeries stores the instant of an infinite result; may be null.
  std::optional<int64_t>* infinite_ms = nullptr;
  /// The request context to which MergeSeries charges its work and the result. The result stays
  /// charged. May be nullptr.
  RequestContext* watch = nullptr;
};

/// Returns the points of the group. `series` is in group order (opentsdb-queries.md §9.3); each
/// series is ascending. InvalidArgument: a result is infinite. Also fails with errors of
/// `options.watch`.
Result<PointColumns> MergeSeries(const MergeOptions& options,
                                 std::span<const PointColumns* const> series);

/// The values of the series of a group at one instant of the result, in the order of the group.
/// Series that do not contribute at this instant are left out. The spans are valid during the call
/// of the visitor.
struct Instant {
  int64_t time_ms = 0;
  bool is_integer = false;  // selects `ints` or `doubles`
  std::span<const int64_t> ints;
  std::span<const double> doubles;
};

/// Calls `visit` with the values before aggregation, for every instant of the result. Fails with
/// errors of `options.watch`.
Status VisitInstants(const MergeOptions& options, std::span<const PointColumns* const> series,
                     const std::function<void(const Instant&)>& visit);

}  // namespace hg::query
