#pragma once
// Applies the fill policy of a sub-query to the buckets of a series (opentsdb-queries.md §7.5).

#include "query/buckets/downsample.h"
#include "query/request/answer.h"
#include "storage/base/status.h"

namespace hg::query {

/// Adds the empty buckets that the fill policy of `grid` requires, and removes buckets that are not
/// in BucketGrid::fill_grid(). `buckets` contains the buckets of one series in ascending order.
/// InvalidArgument: a bucket is missing and the fill policy is "scalar".
Status FillGaps(const BucketGrid& grid, PointColumns* buckets);

}  // namespace hg::query
