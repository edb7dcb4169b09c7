#pragma once
// /api/query and, by its third path segment, /api/query/last, exp and gexp (spec http-api.md §10 to
// §13).

#include "http/services.h"

namespace hg::http {

void HandleQuery(const Request& request, Services& services, ResponseWriter& out);

/// Sends what a failed query is answered with: 400 for the client's mistakes, unknown names and bad
/// data, 500 where OpenTSDB does so, 413 for limits, 424 for storage.
void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out);

}  // namespace hg::http
