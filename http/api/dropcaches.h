#pragma once
// /api/dropcaches (spec http-api.md §14.5).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, DELETE: forgets cached names and ids, so that changes made by other processes are seen.
void HandleDropcaches(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
