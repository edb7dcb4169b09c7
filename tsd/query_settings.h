#pragma once
// The settings of queries. As settings.h: InvalidArgument names key and value.

#include <cstdint>

#include "query/options.h"
#include "tsd/config.h"

namespace hg::tsd {

Result<query::Options> ReadQueryOptions(const Config& config);
/// Bytes for old hours of queries; a twentieth of the memory limit, if no number is set. 0 = none.
Result<int64_t> ReadQueryCacheBytes(const Config& config);
/// tsd.query.slow_log in milliseconds; 0 = slow queries are not logged.
Result<int64_t> ReadSlowQueryMs(const Config& config);

}  // namespace hg::tsd
