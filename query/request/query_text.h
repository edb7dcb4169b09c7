#pragma once
// Prints a request as one line of text for error messages and for the log. The text looks like a
// query string of /api/query.

#include <string>

#include "query/request/request.h"

namespace hg::query {

/// Returns the request as a text such as
/// "start=1h-ago&m=sum:1m-avg:rate:sys.cpu{host=*}&tsuid=sum:000001…". The text is not
/// percent-encoded. If the text is longer than `bytes_max` bytes, it is cut and ends with "…".
std::string QueryText(const Request& request, size_t bytes_max);

}  // namespace hg::query
