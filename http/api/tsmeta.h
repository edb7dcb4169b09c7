#pragma once
// /api/uid/tsmeta (spec http-api.md §17.4).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST, PUT, DELETE, method_override: what is said about one series, or about those of a
/// metric.
void HandleTsMeta(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
