#pragma once
// Reads the settings of queries. The message of InvalidArgument contains the key and the value of
// the setting.

#include <cstdint>

#include "query/request/options.h"
#include "tsd/config.h"

namespace hg::tsd {

Result<query::Options> ReadQueryOptions(const Config& config);
/// Returns the size in bytes of the query cache for old hours; 0 = there is no cache. The default
/// is a twentieth of the memory limit.
Result<int64_t> ReadQueryCacheBytes(const Config& config);
/// Returns the value of tsd.query.slow_log in milliseconds; 0 = slow queries are not logged.
Result<int64_t> ReadSlowQueryMs(const Config& config);

}  // namespace hg::tsd
