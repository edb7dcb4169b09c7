#pragma once
// Writes the results of /api/query/exp as JSON (opentsdb-http-api.md §12, opentsdb-queries.md
// §11.4). The JsonWriter streams them to the client.

#include <vector>

#include "http/wire/json_writer.h"
#include "query/expression/exp_request.h"
#include "query/expression/exp_run.h"

namespace hg::http {

/// Writes the results, and the request in its parsed form. Returns early if the client has
/// disconnected.
void WriteExpResults(const query::ExpRequest& request, const std::vector<query::ExpResult>& results,
                     JsonWriter* json);

}  // namespace hg::http
