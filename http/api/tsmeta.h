#pragma once
// Handlers of /api/uid/tsmeta (opentsdb-http-api.md §17.4).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST, PUT, DELETE, method_override: the metadata of one series, or of the series of a
/// metric.
void HandleTsMeta(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
