#pragma once
// /api/stats/query: running and recently completed queries (opentsdb-http-api.md §15.3). Hourglass
// extension: DELETE with ?id= ends a query.

#include "http/request/services.h"

namespace hg::http {

void HandleQueryStats(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
