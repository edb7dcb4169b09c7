#pragma once
// Functions that all query endpoints use: to register a query for /api/stats/query, to send its
// response or error, and to record its end.

#include <functional>
#include <memory>

#include "http/request/services.h"
#include "http/wire/json_parts.h"
#include "query/engine.h"
#include "query/request/running_request.h"

namespace hg::http {

/// Marks the request as a run of this query, so that /api/stats/query shows it. InvalidArgument: an
/// equal query of the same client address is running, `refuse_repeats` is true, and the options do
/// not allow simultaneous duplicates.
Status BeginQuery(const Request& request, const query::Request& query, bool refuse_repeats = false);

/// Returns the HTTP status of a failed query. 400: client errors, unknown names and invalid data.
/// 500: errors for which OpenTSDB sends 500. 413: the query exceeds a limit. 503: other requests
/// use the memory. 424: storage errors.
int QueryFailureStatus(const Status& status);

/// Returns the threads that help to print the JSON of a large response.
Printers PrintersOf(Services& services);

/// Records the time that storage took for each sub-query (hbase.latency, method=scan).
void RecordScans(Services& services, const query::Answer& answer);

/// Sends the error of a failed query and counts it.
void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out);

/// Like SendQueryFailure, but also records the end of the query.
void FailQuery(const Request& request, Services& services, const Status& status,
               query::RunningRequest& running, ResponseWriter& out);

/// Streams the response of a query. `write` writes the body to the writer that it gets; Write fails
/// once the client has disconnected or the query was ended. Records the end of the query. If the
/// query is ended before the first byte was sent, the client gets an error response.
void SendAnswer(const Request& request, Services& services, query::RunningRequest& running,
                ResponseWriter& out, const std::function<void(ResponseWriter&)>& write);

/// Like SendAnswer, for a JSON document, which is wrapped in the jsonp callback if there is one.
void SendJsonAnswer(const Request& request, Services& services, query::RunningRequest& running,
                    ResponseWriter& out, const std::function<void(JsonWriter*)>& write);

}  // namespace hg::http
