#pragma once
// Parses the bodies of POST /api/query/exp (opentsdb-http-api.md §12, opentsdb-queries.md §11.1).
// Unknown keys are ignored. All functions are pure.

#include "http/wire/json_value.h"
#include "query/expression/exp_request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Converts a JSON document to an expression request. InvalidArgument: the document does not have
/// the right format. In this case the caller sends 500, as OpenTSDB does.
Result<query::ExpRequest> ReadExpRequest(const JsonValue& body);

}  // namespace hg::http
