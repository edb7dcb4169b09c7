#pragma once
// Reads the rows of a sub-query with the help of the query cache (query/rows/bucket_cache.h):
// buckets of old hours come from the cache, and only later rows are read from the store.

#include <memory>

#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::query {

/// Returns whether hours of this sub-query may be in the query cache. Returns false if there is no
/// cache.
[[nodiscard]] bool MayCache(const SubQueryPlan& plan);
/// Returns the cache key of a sub-query: it encodes everything on which the buckets of an hour
/// depend, except the rows of the hour. Call this function only if MayCache returns true.
[[nodiscard]] Bytes CacheShapeOf(const SubQueryPlan& plan);

/// Opens a source that uses the cache. Returns nullptr if the sub-query has no old hours, or if its
/// hours must not be cached. RowSource::Read fails with Conflict at a row that cannot be combined
/// with cached hours (SeriesSet::RefuseStrayRows). RowSource::Finish joins the cached hours with
/// the rows that were read, and puts the old hours among these rows into the cache.
Result<std::unique_ptr<RowSource>> OpenCachedHours(SubQueryPlan* plan);

}  // namespace hg::query
