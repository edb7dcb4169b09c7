#pragma once
// Implements the functions of function expressions (opentsdb-queries.md §12.2 to §12.5). Arguments
// and results may have points outside the time range of the query. Only moving averages remove
// these points.

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

/// A series as one function passes it to the next: its points in output form, and its identity.
struct GexpSeries {
  Group group;
  SeriesIdentity identity;
  bool combined = false;  // whether the last function computed this series from several series
  // Whether a movingAverage of the expression computed this series. If such a series has no points,
  // it cannot be combined with other series.
  bool averaged = false;
  Status failure = {};  // error in the points; only functions that use this series fail with it
  size_t points_before_failure = SIZE_MAX;
};

/// The time range of the query. Both ends are inclusive.
struct GexpRange {
  int64_t begin_ms = 0, end_ms = 0;
};

/// Replaces all values by their absolute values. Integers stay integers.
void MakeAbsolute(PointColumns* points);

/// Multiplies all values by a factor. InvalidArgument: `factor` is not a number that matches
/// [-0-9.]+.
Status Scale(std::string_view factor, PointColumns* points);

/// Sets the metric name, removes the tags, and makes the values absolute (opentsdb-queries.md,
/// quirk Q21). The memory of the name stays charged to `watch`, which may be nullptr.
///
/// InvalidArgument: the function that was applied immediately before this one combined several
/// series. OpenTSDB reports no error if another function was applied in between. Also fails if
/// `watch` reports an error.
Status ApplyAlias(std::string_view alias, GexpSeries* series, RequestContext* watch);

/// Removes the points outside the range, and then computes the moving average of the remaining
/// points. `window` is a number of points, or a duration such as "'10min'". InvalidArgument:
/// `window` is neither a number nor a duration. LimitExceeded: the average needs too many
/// additions. Also fails if `watch` reports an error. `watch` may be nullptr.
Status ApplyMovingAverage(std::string_view window, const GexpRange& range, PointColumns* points,
                          RequestContext* watch);

/// Returns the `count` series with the highest values, unchanged (opentsdb-queries.md, quirk Q24).
/// InvalidArgument: no series has a point in the range. Also fails if `watch` reports an error.
/// `watch` may be nullptr.
Result<std::vector<GexpSeries>> HighestSeries(GexpFunction function, size_t count,
                                              const GexpRange& range,
                                              std::vector<GexpSeries> series,
                                              RequestContext* watch);

/// Joins 2 to 26 sets of series, and combines the joined series with one operator, for example a +
/// b + c. Points are paired by their position in the series (opentsdb-queries.md, quirk Q23). The
/// memory of the result stays charged to `watch`, which may be nullptr. InvalidArgument: the number
/// of sets is wrong, or two paired series have different numbers of points. Also fails if `watch`
/// reports an error.
Result<std::vector<GexpSeries>> CombineSeries(GexpFunction function,
                                              const std::vector<std::vector<GexpSeries>>& sets,
                                              RequestContext* watch);

/// Removes the points outside the range.
void TrimPoints(const GexpRange& range, PointColumns* points);

}  // namespace hg::query
