#pragma once
// /api/query/last: the newest points of series (opentsdb-http-api.md §11).

#include "http/request/services.h"

namespace hg::http {

void HandleQueryLast(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
