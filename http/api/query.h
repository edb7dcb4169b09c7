#pragma once
// /api/query and, by its third path segment, /api/query/last, exp and gexp (spec http-api.md §10 to
// §13).

#include "http/services.h"
#include "query/answer.h"
#include "query/running_query.h"
#include "query/validate.h"

namespace hg::http {

void HandleQuery(const Request& request, Services& services, ResponseWriter& out);

/// Streams groups of points as the answer to a query.
void SendGroups(const Request& request, Services& services, const query::ValidQuery& query,
                const query::Answer& answer, query::RunningQuery& running, ResponseWriter& out);

}  // namespace hg::http
