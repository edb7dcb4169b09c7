#pragma once
// /api/search/…: lookup of series by tags (opentsdb-http-api.md §18.1, opentsdb-queries.md §10.3).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET and POST are served; other methods get 400. Searches that need OpenTSDB's search plug-in
/// report that it is not available.
void HandleSearch(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
