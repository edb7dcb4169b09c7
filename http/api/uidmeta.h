#pragma once
// Handlers of /api/uid/uidmeta (opentsdb-http-api.md §17.3).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST, PUT, DELETE, method_override: the metadata of one UID.
void HandleUidMeta(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
