#pragma once
// /api/uid/…: assign and rename; uidmeta and tsmeta are in their own files (opentsdb-http-api.md
// §17).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Any method. The third path segment selects the function, which checks the method. Unknown
/// segments get 501.
void HandleUid(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
