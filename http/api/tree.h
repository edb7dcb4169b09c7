#pragma once
// Handlers of /api/tree and below (opentsdb-http-api.md §18.2).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Tree definitions, and below them /rule, /rules, /branch, /collisions, /notmatched, /test.
void HandleTree(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
