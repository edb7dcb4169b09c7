#pragma once
// Evaluates the tag filters of a sub-query on the known series of its metric before the scan, so
// that the scan reads only series that the filters accept.

#include "query/series/series_filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// Returns a matcher that selects the known series of `metric` (UID bytes) that `filter` accepts.
/// SeriesMatcher::tsuids lists the TSUIDs of these series; the list is empty if the filter accepts
/// no series. Charges the memory of the matcher to `memory`, and one step for each series. The
/// look-up of names is charged to the context of the filter's NameMemo. Returns the errors of
/// `memory`, `points` and `filter`.
Result<SeriesMatcher> ChooseSeries(Points& points, ByteView metric, SeriesFilter* filter,
                                   MemoryTally* memory);

}  // namespace hg::query
