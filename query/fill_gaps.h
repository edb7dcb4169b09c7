#pragma once
// Applies a fill policy to buckets that were computed before (opentsdb-queries.md §7.5).

#include "query/answer.h"
#include "query/downsample.h"
#include "storage/base/status.h"

namespace hg::query {

/// Adds the buckets that the grid's fill policy demands to one series' ascending buckets, and
/// removes those that are not on the grid. InvalidArgument: the "scalar" policy met a missing
/// bucket.
Status FillGaps(const BucketGrid& grid, PointColumns* buckets);

}  // namespace hg::query
