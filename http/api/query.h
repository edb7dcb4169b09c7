#pragma once
// Handlers of /api/query. The third segment of the path selects /api/query/last, /api/query/exp or
// /api/query/gexp (opentsdb-http-api.md §10 to §13).

#include "http/request/services.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "query/request/running_request.h"

namespace hg::http {

void HandleQuery(const Request& request, Services& services, ResponseWriter& out);

/// Streams the result of a query as groups of points.
void SendGroups(const Request& request, Services& services, const query::ValidQuery& query,
                const query::Answer& answer, query::RunningRequest& running, ResponseWriter& out);

}  // namespace hg::http
