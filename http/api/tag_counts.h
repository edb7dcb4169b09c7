#pragma once
// /api/search/tags: the number of series of a metric, and their distribution over its tags.
// Hourglass extension, used by the web page's list of metrics.

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST; parameters are in the query string:
/// - m: a metric with filters as in /api/search/lookup; only series with these tags are counted
/// - limit: values per tag key, those with most series first; 0 to 10000, default 25
///
/// Keys are sorted by name. An id whose name was deleted is shown in hexadecimal digits with
/// "deleted":true. 400: m or limit is missing or invalid, or m names no metric. 404: an unknown
/// name. The request runs as a query: query budgets and timeouts apply, with the same HTTP
/// statuses, and /api/stats/query lists it and can end it.
void HandleTagCounts(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
