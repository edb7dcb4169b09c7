#pragma once
// /api/version and /version (spec http-api.md §14.3, §19.1).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: an object below /api and with ?json, two lines of text elsewhere.
void HandleVersion(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
