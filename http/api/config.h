#pragma once
// /api/config and /api/config/filters (spec http-api.md §14.4).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: every effective setting, or what the tag filters are called.
void HandleConfig(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
