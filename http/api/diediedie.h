#pragma once
// Handlers of /diediedie (opentsdb-http-api.md §19.1).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Any method: replies with a confirmation, and stops the daemon after the reply was sent.
void HandleDiediedie(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
