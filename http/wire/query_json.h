#pragma once
// Parses queries in JSON bodies (opentsdb-http-api.md §10.5, §11). Unknown keys are ignored, except
// those that OpenTSDB rejects. All functions are pure.

#include "http/wire/json_value.h"
#include "query/last_point.h"
#include "query/plan/filter_set.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// The maximum number of sub-queries in one request. Dashboards and tools use far fewer.
inline constexpr size_t kSubQueriesMax = 4096;
/// Returns LimitExceeded if a request has too many sub-queries.
Status CheckSubQueries(size_t count);

/// Parses the body of POST /api/query. `filters` compiles the filters and keeps them for the
/// validation of the request. If `filters` is nullptr, work and memory for the filters are not
/// charged to the request.
///
/// LimitExceeded: there are too many sub-queries. InvalidArgument: the document does not have the
/// right format; the caller sends 400 "Unable to parse the given JSON" with the message as details.
/// Unsupported: an error for which OpenTSDB sends HTTP status 500.
Result<query::Request> ReadQuery(const JsonValue& body, query::FilterSet* filters = nullptr);

/// Parses the body of POST /api/query/last. A body without sub-queries is valid. InvalidArgument:
/// the document does not have the right format. LimitExceeded: there are too many sub-queries. Also
/// returns the errors of `context`.
Result<query::LastPointQuery> ReadLastPointQuery(
    const JsonValue& body, RequestContext& context = RequestContext::Unlimited());

}  // namespace hg::http
