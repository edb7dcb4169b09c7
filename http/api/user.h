#pragma once
// /api/user: who asks, and what he may; ours.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET: {"user":…,"roles":[…],"mode":…}. Where nobody is asked who he is: no name, all roles.
void HandleUser(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
