#pragma once
// The functions of function expressions, one by one (spec query.md §12.2 to §12.5). Pure; columns
// are untrimmed and stay so but for moving averages.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/answer.h"
#include "query/expression/gexp.h"
#include "query/expression/identity.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"

namespace hg::query {

/// A series on its way through functions: how it is shown and who it is.
struct GexpSeries {
  Group group;
  SeriesIdentity identity;
  bool combined = false;  // by the last function, out of several
  bool averaged = false;  // by a movingAverage below; without points it cannot be combined
  Status failure = {};    // of its points: whoever uses them fails, but nobody else
  size_t points_before_failure = SIZE_MAX;
};

/// The range of the query, both ends inclusive.
struct GexpRange {
  int64_t begin_ms = 0, end_ms = 0;
};

/// |v|, types kept.
void MakeAbsolute(PointColumns* points);

/// InvalidArgument: not [-0-9.]+, or no number.
Status Scale(std::string_view factor, PointColumns* points);

/// Sets the metric, drops the tags, and makes the values absolute (quirk Q21). InvalidArgument: the
/// series was combined from several just now; another function in between makes it good (recorded).
Status ApplyAlias(std::string_view alias, GexpSeries* series);

/// Restricts the points to the range, then averages. `window`: a number of points, or a time such
/// as "'10min'". InvalidArgument: another text.
Status ApplyMovingAverage(std::string_view window, const GexpRange& range, PointColumns* points);

/// The `count` highest series (quirk Q24), as they are. InvalidArgument: no series has a point in
/// the range. Else what `watch` says, if there is one.
Result<std::vector<GexpSeries>> HighestSeries(GexpFunction function, size_t count,
                                              const GexpRange& range,
                                              std::vector<GexpSeries> series, WorkWatch* watch);

/// a + b + c … over the join of 2 to 26 sets, point by point by position (quirk Q23).
/// InvalidArgument: their number, or paired series of different lengths.
Result<std::vector<GexpSeries>> CombineSeries(GexpFunction function,
                                              const std::vector<std::vector<GexpSeries>>& sets);

/// Drops the points outside of the range.
void TrimPoints(const GexpRange& range, PointColumns* points);

}  // namespace hg::query
