#pragma once
// /api/put, the exact way (spec http-api.md §8): every rule, every text. The connection tries the
// fast way first (http/put_fast.h) and comes here with what that does not take.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. Blocks.
void HandlePut(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
