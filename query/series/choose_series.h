#pragma once
// Selects the series to scan by their names, before the scan.

#include "query/series/series_filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// Returns a matcher with the TSUIDs of all known series of the metric that the filter admits.
/// `tsuids` is empty if the filter admits no series. Charges the matcher to `memory`, and reports a
/// step to it for each series. Work on names is reported to the context of the filter's NameMemo.
/// Fails with errors of `memory`, `points` and `filter`.
Result<SeriesMatcher> ChooseSeries(Points& points, ByteView metric, SeriesFilter* filter,
                                   MemoryTally* memory);

}  // namespace hg::query
