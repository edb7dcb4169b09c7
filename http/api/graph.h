#pragma once
// /q: OpenTSDB's graph page and its text form (spec http-api.md §19.2).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any verb. Points as lines with `ascii`, their number with `json`; without them a page that leads
/// to the home page. Plots (`png`) are not drawn: 400.
void HandleGraph(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
