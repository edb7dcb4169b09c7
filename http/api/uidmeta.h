#pragma once
// /api/uid/uidmeta (spec http-api.md §17.3).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST, PUT, DELETE, method_override: what is said about one id.
void HandleUidMeta(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
