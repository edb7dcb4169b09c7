#pragma once
// /q: OpenTSDB's graphs as PNG, text or JSON (opentsdb-http-api.md §19.2).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Any method. `ascii`: points as lines of text. `json`: only the number of points. `png`: a plot.
/// Without these parameters: a page that redirects to the home page.
void HandleGraph(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
