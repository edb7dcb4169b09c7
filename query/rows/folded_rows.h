#pragma once
// Reads the rows of a sub-query that computes the maximum of maxima, or the minimum of minima, over
// all its series. Most rows cannot change this kind of result and are skipped
// (query/rows/extreme_fold.h).

#include <memory>

#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/status.h"

namespace hg::query {

/// Opens a source that uses ExtremeFold. Returns nullptr if the sub-query does not compute a
/// maximum of maxima or a minimum of minima, or if another source is probably faster. If this
/// becomes clear only after a scan was opened, returns a source that reads all rows with this scan.
/// RowSource::Read fails with Conflict at a bucket of -0.0 (SeriesSet::FoldInto). RowSource::Finish
/// sets SeriesRead::folded.
Result<std::unique_ptr<RowSource>> OpenExtremes(SubQueryPlan* plan);

}  // namespace hg::query
