#pragma once
// Parses bodies of POST /api/query/exp (opentsdb-http-api.md §12, opentsdb-queries.md §11.1).
// Unknown keys are ignored. Pure functions.

#include "http/wire/json_value.h"
#include "query/expression/exp_request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Converts the document to a request. InvalidArgument: the document does not have the right
/// format. The caller then sends 500, as OpenTSDB does.
Result<query::ExpRequest> ReadExpRequest(const JsonValue& body);

}  // namespace hg::http
