#pragma once
// Answers of /api/query/exp as JSON (spec http-api.md §12, query.md §11.4). Streams through the
// writer.

#include <vector>

#include "http/wire/json_writer.h"
#include "query/expression/exp_request.h"
#include "query/expression/exp_run.h"

namespace hg::http {

/// Results and the request as it was understood. Ends early when the client has gone.
void WriteExpResults(const query::ExpRequest& request, const std::vector<query::ExpResult>& results,
                     JsonWriter* json);

}  // namespace hg::http
