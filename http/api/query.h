#pragma once
// Sends the results of the endpoints /api/query and /api/query/gexp.

#include "http/request/services.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "query/request/running_request.h"

namespace hg::http {

/// Sends the result of a query, a list of groups of points, piece by piece.
void SendGroups(const Request& request, Services& services, const query::ValidQuery& query,
                const query::Answer& answer, query::RunningRequest& running, ResponseWriter& out);

}  // namespace hg::http
