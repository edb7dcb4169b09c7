#pragma once
// Implements the functions of function expressions (opentsdb-queries.md §12.2 to §12.5). Arguments
// and results may have points outside the time range of the query. Of these functions, only moving
// averages remove such points.

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

/// A series that one function passes to the next: its points and names in the form of an output,
/// and its identity.
struct GexpSeries {
  Group group;
  SeriesIdentity identity;
  bool combined = false;  // whether the last function computed this series from several series
  // Whether a movingAverage of the expression computed this series. An averaged series without
  // points cannot be combined with other series.
  bool averaged = false;
  /// An error in the points; the expression fails only if a function or the result uses this
  /// series.
  Status failure = {};
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

/// Sets the metric name of the series to `alias`, removes the tags, and makes the values absolute
/// (opentsdb-queries.md, quirk Q21). The memory of the name stays charged to `watch`, which may be
/// nullptr.
///
/// InvalidArgument: the function that was applied immediately before this one combined several
/// series. OpenTSDB reports no error if another function was applied in between. Also returns the
/// errors of `watch`.
Status ApplyAlias(std::string_view alias, GexpSeries* series, RequestContext* watch);

/// Removes the points outside `range`, and then replaces the values of the other points by their
/// moving average. `window` is a number of points, or a duration such as "'10min'".
/// InvalidArgument: `window` is neither a number nor a duration, or an average is infinite.
/// LimitExceeded: the average needs too many additions. Also returns the errors of `watch`, which
/// may be nullptr.
Status ApplyMovingAverage(std::string_view window, const GexpRange& range, PointColumns* points,
                          RequestContext* watch);

/// Returns the `count` series with the highest values, without changing their points
/// (opentsdb-queries.md, quirk Q24). `function` is kHighestMax or kHighestCurrent. InvalidArgument:
/// no series has a point in `range`. Also returns the errors of `watch`, which may be nullptr.
Result<std::vector<GexpSeries>> HighestSeries(GexpFunction function, size_t count,
                                              const GexpRange& range,
                                              std::vector<GexpSeries> series,
                                              RequestContext* watch);

/// Joins 2 to 26 sets of series, and combines the members of each joined series with one operator,
/// for example a + b + c. Points are paired by their position in the series (opentsdb-queries.md,
/// quirk Q23). The memory of the result stays charged to `watch`, which may be nullptr.
/// InvalidArgument: the number of sets is wrong, or two paired series have different numbers of
/// points. Also returns the errors of `watch`.
Result<std::vector<GexpSeries>> CombineSeries(GexpFunction function,
                                              const std::vector<std::vector<GexpSeries>>& sets,
                                              RequestContext* watch);

/// Removes the points outside `range`.
void TrimPoints(const GexpRange& range, PointColumns* points);

}  // namespace hg::query
