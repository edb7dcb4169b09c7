#pragma once
// Prints a request as one line of text, in the form of a query string of /api/query, for error
// messages and for the log.

#include <string>

#include "query/request/request.h"

namespace hg::query {

/// Returns text such as "start=1h-ago&m=sum:1m-avg:rate:sys.cpu{host=*}&tsuid=sum:000001…". The
/// text is not percent-encoded. After `bytes_max` bytes it is cut and ends with "…".
std::string QueryText(const Request& request, size_t bytes_max);

}  // namespace hg::query
