#pragma once
// Handlers of /api/dropcaches (opentsdb-http-api.md §14.5).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, DELETE: drops cached names and ids, so that changes by other processes become visible.
void HandleDropcaches(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
