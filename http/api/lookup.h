#pragma once
// Handlers of /api/search/lookup (opentsdb-http-api.md §18.1, opentsdb-queries.md §10.3).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Checks that the body of a search request is JSON. If it is not, sends an error and returns
/// false.
bool CheckSearchBody(const Request& request, ResponseWriter& out);

/// Returns the series with the given tags, from Hourglass's own index. The meta table is not used.
/// A body, if present, is read instead of the query string.
void HandleLookup(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
