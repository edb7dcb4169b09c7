#pragma once
// The functions of function expressions (opentsdb-queries.md §12.2 to §12.5). Arguments and results
// may have points outside the range of the query. Only moving averages remove such points.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/expression/gexp.h"
#include "query/expression/identity.h"
#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query {

/// A series that one function passes to the next: its output form and its identity.
struct GexpSeries {
  Group group;
  SeriesIdentity identity;
  bool combined = false;  // the last function made this series from several series
  // A movingAverage in the expression made the series. If it has no points, it cannot be combined.
  bool averaged = false;
  Status failure = {};  // error in the points; only functions that use the series fail
  size_t points_before_failure = SIZE_MAX;
};

/// The time range of the query. Both ends are inclusive.
struct GexpRange {
  int64_t begin_ms = 0, end_ms = 0;
};

/// Replaces values by their absolute values. Integers stay integers.
void MakeAbsolute(PointColumns* points);

/// Multiplies all values by a factor. InvalidArgument: `factor` is not a number of [-0-9.]+.
Status Scale(std::string_view factor, PointColumns* points);

/// Sets the metric name, removes the tags, and makes the values absolute (opentsdb-queries.md,
/// quirk Q21). InvalidArgument: the function that was applied immediately before combined several
/// series. (Recorded from OpenTSDB: if another function was applied in between, there is no
/// error.) Also fails with errors of `watch`, which may be nullptr. The name stays charged to
/// `watch`.
Status ApplyAlias(std::string_view alias, GexpSeries* series, RequestContext* watch);

/// Removes the points outside the range, then computes the moving average. `window` is a number of
/// points, or a time such as "'10min'". InvalidArgument: `window` is neither. LimitExceeded: the
/// average needs too many additions. Also fails with errors of `watch`, which may be nullptr.
Status ApplyMovingAverage(std::string_view window, const GexpRange& range, PointColumns* points,
                          RequestContext* watch);

/// Returns the `count` highest series, unchanged (opentsdb-queries.md, quirk Q24). InvalidArgument:
/// no series has a point in the range. Also fails with errors of `watch`, which may be nullptr.
Result<std::vector<GexpSeries>> HighestSeries(GexpFunction function, size_t count,
                                              const GexpRange& range,
                                              std::vector<GexpSeries> series,
                                              RequestContext* watch);

/// Computes a + b + c … (or another operator) over the join of 2 to 26 sets. Points are paired by
/// their position (opentsdb-queries.md, quirk Q23). InvalidArgument: the number of sets is wrong,
/// or two paired series have different numbers of points. Also fails with errors of `watch`, which
/// may be nullptr. The result stays charged to `watch`.
Result<std::vector<GexpSeries>> CombineSeries(GexpFunction function,
                                              const std::vector<std::vector<GexpSeries>>& sets,
                                              RequestContext* watch);

/// Removes the points outside of the range.
void TrimPoints(const GexpRange& range, PointColumns* points);

}  // namespace hg::query
