#pragma once
// Queries from JSON bodies (spec http-api.md §10.5, §11). Unknown keys are passed over except where
// OpenTSDB refuses them. Pure.

#include "http/wire/json_value.h"
#include "query/last_point.h"
#include "query/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Sub-queries of one request: far more than any page or tool asks for at once.
inline constexpr size_t kSubQueriesMax = 4096;

/// Body of POST /api/query. LimitExceeded: too many sub-queries. InvalidArgument: the document does
/// not fit (400 "Unable to parse the given JSON", the message being the details). Unsupported: what
/// OpenTSDB answers with 500.
Result<query::Request> ReadQuery(const JsonValue& body);

/// Body of POST /api/query/last. InvalidArgument as above; sub-queries may be missing.
Result<query::LastPointQuery> ReadLastPointQuery(const JsonValue& body);

}  // namespace hg::http
