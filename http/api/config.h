#pragma once
// Handlers of /api/config and /api/config/filters (opentsdb-http-api.md §14.4).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: all effective settings, or the names of the tag filters.
void HandleConfig(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
