#pragma once
// Removes stored values that the API of OpenTSDB does not show (storage/model/special_double.h).

#include "query/plan/value_filter.h"
#include "storage/points/points.h"

namespace hg::query {

/// Removes the points whose values are special doubles (storage/model/special_double.h) from a row
/// whose points were loaded. Returns whether there were such points. If the result is true, `*kept`
/// has the remaining points, and the row refers to them. A row that has statistics has no special
/// doubles.
bool PassOverSpecials(RowHour* row, KeptPoints* kept);

}  // namespace hg::query
