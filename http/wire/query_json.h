#pragma once
// Parses queries in JSON bodies (opentsdb-http-api.md §10.5, §11). Unknown keys are ignored except
// where OpenTSDB refuses them. Pure functions.

#include "http/wire/json_value.h"
#include "query/last_point.h"
#include "query/plan/filter_set.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Maximum number of sub-queries of one request. It is far more than pages and tools use.
inline constexpr size_t kSubQueriesMax = 4096;

/// Parses the body of POST /api/query. LimitExceeded: too many sub-queries. InvalidArgument: the
/// document does not match the format (400 "Unable to parse the given JSON", with the message as
/// details). Unsupported: an error for which OpenTSDB sends 500. `filters`: compiles the filters
/// and keeps them for the validation of the request. nullptr: the filters' work and memory are not
/// charged to the request.
Result<query::Request> ReadQuery(const JsonValue& body, query::FilterSet* filters = nullptr);

/// Parses the body of POST /api/query/last. InvalidArgument: the document does not match the
/// format. Sub-queries may be missing.
Result<query::LastPointQuery> ReadLastPointQuery(const JsonValue& body);

}  // namespace hg::http
