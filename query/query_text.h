#pragma once
// A request in one line, as one would write it in the query string of /api/query: for error
// messages and the log.

#include <string>

#include "query/request.h"

namespace hg::query {

/// "start=1h-ago&m=sum:1m-avg:rate:sys.cpu{host=*}&tsuid=sum:000001…", readable instead of
/// percent-encoded, cut with "…" after `bytes_max`.
std::string QueryText(const Request& request, size_t bytes_max);

}  // namespace hg::query
