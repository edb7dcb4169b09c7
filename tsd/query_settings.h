#pragma once
// Reads the settings of queries. The message of InvalidArgument names key and value.

#include <cstdint>

#include "query/request/options.h"
#include "tsd/config.h"

namespace hg::tsd {

Result<query::Options> ReadQueryOptions(const Config& config);
/// Returns the size in bytes of the cache for old hours of queries. The default is a twentieth of
/// the memory limit. 0 = no cache.
Result<int64_t> ReadQueryCacheBytes(const Config& config);
/// Returns tsd.query.slow_log in milliseconds; 0 = slow queries are not logged.
Result<int64_t> ReadSlowQueryMs(const Config& config);

}  // namespace hg::tsd
