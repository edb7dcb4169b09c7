#pragma once
// A request as one line of text, in the form of a query string of /api/query. Used in error
// messages and in the log.

#include <string>

#include "query/request/request.h"

namespace hg::query {

/// Returns text such as "start=1h-ago&m=sum:1m-avg:rate:sys.cpu{host=*}&tsuid=sum:000001…". The
/// text is not percent-encoded, and is cut with "…" after `bytes_max` bytes.
std::string QueryText(const Request& request, size_t bytes_max);

}  // namespace hg::query
