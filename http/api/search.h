#pragma once
// /api/search/…: lookup of series by their tags (spec http-api.md §18.1, query.md §10.3).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any verb; GET and POST are answered, others are 400. Searches that need OpenTSDB's plug-in say
/// that it is not there.
void HandleSearch(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
