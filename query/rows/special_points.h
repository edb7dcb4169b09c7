#pragma once
// Removes points that the API of OpenTSDB does not show (storage/model/special_double.h).

#include "query/plan/value_filter.h"
#include "storage/points/points.h"

namespace hg::query {

/// Removes all points from `row` whose values are special doubles (storage/model/special_double.h).
/// The points of the row must already be loaded. Returns whether points were removed. If points
/// were removed, `*kept` has the remaining points, and `row` refers to the memory of `*kept`. Rows
/// that have statistics need no call, because they have no special doubles.
bool PassOverSpecials(RowHour* row, KeptPoints* kept);

}  // namespace hg::query
