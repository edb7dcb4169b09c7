#pragma once
// /api/user: the user and roles of the client. Hourglass extension.

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET: {"user":…,"roles":[…],"mode":…}. Without authentication: no name, all roles.
void HandleUser(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
