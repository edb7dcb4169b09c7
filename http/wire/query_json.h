#pragma once
// Parses queries in JSON bodies (opentsdb-http-api.md §10.5, §11). Ignores unknown keys, except
// where OpenTSDB rejects them. Pure functions.

#include "http/wire/json_value.h"
#include "query/last_point.h"
#include "query/plan/filter_set.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Maximum number of sub-queries in one request. Pages and tools use far fewer.
inline constexpr size_t kSubQueriesMax = 4096;

/// Parses the body of POST /api/query. LimitExceeded: too many sub-queries. InvalidArgument: the
/// document does not have the right format (400 "Unable to parse the given JSON", with the message
/// as details). Unsupported: an error for which OpenTSDB sends 500. `filters` compiles the filters
/// and keeps them for the validation of the request. If `filters` is nullptr, work and memory for
/// the filters are not charged to the request.
Result<query::Request> ReadQuery(const JsonValue& body, query::FilterSet* filters = nullptr);

/// Parses the body of POST /api/query/last. InvalidArgument: the document does not have the right
/// format. Sub-queries may be missing.
Result<query::LastPointQuery> ReadLastPointQuery(const JsonValue& body);

}  // namespace hg::http
