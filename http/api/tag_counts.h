#pragma once
// /api/search/tags: how many series a metric has, and how they are spread over its tags. Ours; the
// page's list of metrics asks it.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST; parameters in the query string. m: a metric, with filters as in /api/search/lookup:
/// only series that have these tags are counted; keys come by name. limit: values shown of each tag
/// key, those of most series first; 25 unless given, 0 = none, 10000 at most. An id whose name was
/// deleted stands in hex digits in the name's place, with "deleted":true. 400: m or limit is
/// missing or wrong, or names no metric. 404: an unknown name. It runs as a query: with its budgets
/// and its time, and its statuses where these are used up; /api/stats/query lists it and may end
/// it.
void HandleTagCounts(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
