#pragma once
// Handlers of /api/suggest and /suggest (opentsdb-http-api.md §14.1, §19.1).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: names of one kind that begin with a prefix. Outside /api the body is not read.
void HandleSuggest(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
