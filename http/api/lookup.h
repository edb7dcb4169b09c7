#pragma once
// /api/search/lookup (spec http-api.md §18.1, query.md §10.3).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Whether a search's body can be read, whatever kind of search it is for; false: the error was
/// sent.
bool CheckSearchBody(const Request& request, ResponseWriter& out);

/// The series that have the given tags, from our own index: whether the meta table is kept does not
/// matter. A body, if there is one, is read instead of the query string.
void HandleLookup(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
