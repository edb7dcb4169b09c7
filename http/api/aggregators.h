#pragma once
// Handlers of /api/aggregators and /aggregators (opentsdb-http-api.md §14.2).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: returns the names of all aggregators, in OpenTSDB's order.
void HandleAggregators(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
