#pragma once
// Removes stored values that the API of OpenTSDB does not show (storage/model/special_double.h).

#include "query/plan/value_filter.h"
#include "storage/points/points.h"

namespace hg::query {

/// Removes all points whose values are special doubles (storage/model/special_double.h) from the
/// row. The points of the row must already be loaded. Returns whether points were removed. If the
/// result is true, `*kept` has the remaining points, and `row` refers to the memory of `*kept`. A
/// row that has statistics has no special doubles.
bool PassOverSpecials(RowHour* row, KeptPoints* kept);

}  // namespace hg::query
