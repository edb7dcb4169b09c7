#pragma once
// Selects series by their names before the scan, so that the scan reads only these series.

#include "query/series/series_filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// Returns a matcher with the TSUIDs of all known series of the metric that the filter accepts. The
/// list `tsuids` of the matcher is empty if the filter accepts no series. Charges the matcher to
/// `memory`, and one step for each series. Work on names is charged to the context of the filter's
/// NameMemo. Returns the errors that `memory`, `points` and `filter` report.
Result<SeriesMatcher> ChooseSeries(Points& points, ByteView metric, SeriesFilter* filter,
                                   MemoryTally* memory);

}  // namespace hg::query
