#pragma once
// Series picked by their names before anything is scanned.

#include "query/series_filter.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/points/points.h"
#include "storage/series_matcher.h"

namespace hg::query {

/// The known series of the metric that the filter admits, as a matcher of their TSUIDs; its
/// `tsuids` are empty if there is none. What it holds is charged to `memory`, whose watch is told
/// of each series, too. Fails as the watch, the points and the filter do.
Result<SeriesMatcher> ChooseSeries(Points& points, ByteView metric, SeriesFilter* filter,
                                   MemoryTally* memory);

}  // namespace hg::query
