#pragma once
// Handlers of /api/version and /version (opentsdb-http-api.md §14.3, §19.1).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: a JSON object below /api and with ?json, otherwise two lines of text.
void HandleVersion(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
