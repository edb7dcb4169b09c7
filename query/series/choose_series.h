#pragma once
// Selects series by their names before anything is scanned.

#include "query/series/series_filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// Returns the known series of the metric that the filter admits, as a matcher with their TSUIDs.
/// `tsuids` is empty if no series is admitted. Charges the matcher to `memory` and reports a step
/// to it for each series. Work on names is reported to the context of the filter's NameMemo. Fails
/// with errors of `memory`, `points` and `filter`.
Result<SeriesMatcher> ChooseSeries(Points& points, ByteView metric, SeriesFilter* filter,
                                   MemoryTally* memory);

}  // namespace hg::query
