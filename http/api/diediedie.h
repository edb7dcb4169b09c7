#pragma once
// /diediedie (spec http-api.md §19.1).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any verb: says so and stops the daemon, which still sends this reply.
void HandleDiediedie(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
