#pragma once
// Writes results of /api/query/exp as JSON (opentsdb-http-api.md §12, opentsdb-queries.md §11.4),
// streamed through the JsonWriter.

#include <vector>

#include "http/wire/json_writer.h"
#include "query/expression/exp_request.h"
#include "query/expression/exp_run.h"

namespace hg::http {

/// Writes the results, and the request as parsed. Returns early if the client has disconnected.
void WriteExpResults(const query::ExpRequest& request, const std::vector<query::ExpResult>& results,
                     JsonWriter* json);

}  // namespace hg::http
