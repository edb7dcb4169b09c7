#pragma once
// Fill policies by themselves: of buckets that are there already (spec query.md §7.5).

#include "query/answer.h"
#include "query/downsample.h"
#include "storage/base/status.h"

namespace hg::query {

/// Gives one series' buckets, ascending, those that the grid's fill policy adds, and no others than
/// the grid's. InvalidArgument: the "scalar" policy met a missing bucket.
Status FillGaps(const BucketGrid& grid, PointColumns* buckets);

}  // namespace hg::query
