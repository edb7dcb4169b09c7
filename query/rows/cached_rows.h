#pragma once
// Reads a sub-query with the query cache (query/rows/bucket_cache.h): buckets of old hours come
// from the cache, and only later rows are read from the store.

#include <memory>

#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::query {

/// Returns whether the cache may have hours of this sub-query. Returns false if there is no cache.
[[nodiscard]] bool MayCache(const SubQueryPlan& plan);
/// Encodes everything on which the buckets of an hour depend, except its rows. Needs MayCache.
[[nodiscard]] Bytes CacheShapeOf(const SubQueryPlan& plan);

/// Returns nullptr if the sub-query has no old hours, or none that may be cached. Read returns
/// Conflict at a row that cannot be combined with cached hours (SeriesSet::RefuseStrayRows). Finish
/// joins cached hours and read rows, and puts the old hours that were read into the cache.
Result<std::unique_ptr<RowSource>> OpenCachedHours(SubQueryPlan* plan);

}  // namespace hg::query
