#pragma once
// Handlers of /diediedie (opentsdb-http-api.md §19.1).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any method: confirms, and stops the daemon after this reply was sent.
void HandleDiediedie(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
