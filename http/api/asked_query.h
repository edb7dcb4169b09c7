#pragma once
// Shared by the query endpoints: registers a query for /api/stats/query, sends its response or
// error, and records its end.

#include <functional>
#include <memory>

#include "http/request/services.h"
#include "http/wire/json_parts.h"
#include "query/engine.h"
#include "query/request/running_request.h"

namespace hg::http {

/// Registers the request as this query, so that /api/stats/query shows it. InvalidArgument: an
/// equal query of the same client address is running, `refuse_repeats` is true, and the options do
/// not allow simultaneous duplicates.
Status BeginQuery(const Request& request, const query::Request& query, bool refuse_repeats = false);

/// The HTTP status of a failed query. 400: client errors, unknown names and invalid data. 500:
/// errors for which OpenTSDB uses it. 413: the query exceeds a limit. 503: other requests use the
/// memory. 424: storage errors.
int QueryFailureStatus(const Status& status);

/// Returns the threads that help to write the JSON of a large response.
Printers PrintersOf(Services& services);

/// Records the time that storage took for each sub-query (hbase.latency, method=scan).
void RecordScans(Services& services, const query::Answer& answer);

/// Sends the error of a failed query and counts it.
void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out);

/// Like SendQueryFailure; also records the end of the query.
void FailQuery(const Request& request, Services& services, const Status& status,
               query::RunningRequest& running, ResponseWriter& out);

/// Streams the response of a query. `write` writes the body to the given writer, whose Write fails
/// once the client is gone or the query was ended. Records the end of the query. A query that is
/// ended before the first byte was sent gets an error response.
void SendAnswer(const Request& request, Services& services, query::RunningRequest& running,
                ResponseWriter& out, const std::function<void(ResponseWriter&)>& write);

/// Like SendAnswer, for one JSON document, wrapped for jsonp.
void SendJsonAnswer(const Request& request, Services& services, query::RunningRequest& running,
                    ResponseWriter& out, const std::function<void(JsonWriter*)>& write);

}  // namespace hg::http
