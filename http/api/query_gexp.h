#pragma once
// /api/query/gexp (spec http-api.md §13, query.md §12): functions over the sub-queries that they
// name.

#include "http/services.h"

namespace hg::http {

/// `delete_rows`: the request is a DELETE, and the settings allow it.
void HandleQueryGexp(const Request& request, Services& services, bool delete_rows,
                     ResponseWriter& out);

}  // namespace hg::http
