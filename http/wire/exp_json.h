#pragma once
// Bodies of POST /api/query/exp (spec http-api.md §12, query.md §11.1). Unknown keys are passed
// over. Pure.

#include "http/wire/json_value.h"
#include "query/expression/exp_request.h"
#include "storage/base/status.h"

namespace hg::http {

/// InvalidArgument: the document does not fit, which OpenTSDB answers with 500.
Result<query::ExpRequest> ReadExpRequest(const JsonValue& body);

}  // namespace hg::http
