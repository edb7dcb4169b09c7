#pragma once
// Prints a request as one line of text for error messages and for the log. The text has the form of
// a query string of /api/query.

#include <string>

#include "query/request/request.h"

namespace hg::query {

/// Returns a text such as "start=1h-ago&m=sum:1m-avg:rate:sys.cpu{host=*}&tsuid=sum:000001…". The
/// text is not percent-encoded. A text of more than `bytes_max` bytes is cut and ends with "…".
std::string QueryText(const Request& request, size_t bytes_max);

}  // namespace hg::query
