#pragma once
// Which stored values OpenTSDB's API does not show (storage/model/special_double.h).

#include "query/value_filter.h"
#include "storage/points/points.h"

namespace hg::query {

/// Removes the special doubles of a row that was read whole. If there are any, the row then borrows
/// `*kept`, and the result is true. Rows with statistics have none.
bool PassOverSpecials(RowHour* row, KeptPoints* kept);

}  // namespace hg::query
