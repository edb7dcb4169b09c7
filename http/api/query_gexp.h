#pragma once
// /api/query/gexp (opentsdb-http-api.md §13, opentsdb-queries.md §12): functions applied to the
// sub-queries that they name.

#include "http/request/services.h"

namespace hg::http {

/// Handles /api/query/gexp. `delete_rows`: the request is a DELETE and the settings allow deletes.
void HandleQueryGexp(const Request& request, Services& services, bool delete_rows,
                     ResponseWriter& out);

}  // namespace hg::http
