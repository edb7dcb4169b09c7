#pragma once
// /api/search/lookup (spec http-api.md §18.1, query.md §10.3).

#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"
#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// InvalidArgument if a search's body cannot be read, whatever kind of search it is for.
Status CheckSearchBody(std::string_view body);

/// The series that have the given tags, from our own index: whether the meta table is kept does not
/// matter. A body, if there is one, is read instead of the query string.
void HandleLookup(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
