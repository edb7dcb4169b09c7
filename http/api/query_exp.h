#pragma once
// Handlers of /api/query/exp (opentsdb-http-api.md §12, opentsdb-queries.md §11). Every mistake in
// the request gets 500, as in OpenTSDB. Failures while the query runs are answered as by
// /api/query.

#include "http/request/services.h"

namespace hg::http {

void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
