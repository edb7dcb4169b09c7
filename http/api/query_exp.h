#pragma once
// /api/query/exp (spec http-api.md §12, query.md §11). Every mistake in the request is answered
// with 500, as OpenTSDB does; what fails while running as with /api/query.

#include "http/services.h"

namespace hg::http {

void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
