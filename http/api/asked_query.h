#pragma once
// Functions that all query endpoints use. They register a query for /api/stats/query, send the
// response or the error of the query, and record the end of the query.

#include <functional>
#include <memory>

#include "http/request/services.h"
#include "http/wire/json_parts.h"
#include "query/engine.h"
#include "query/request/running_request.h"

namespace hg::http {

/// Marks the request as a run of `query`, so that /api/stats/query shows it. InvalidArgument: an
/// equal query from the same client address is running, `refuse_repeats` is true, and the options
/// do not allow simultaneous duplicates.
Status BeginQuery(const Request& request, const query::Request& query, bool refuse_repeats = false);

/// Returns the HTTP status of a failed query. 400: client errors, unknown names and invalid data.
/// 413: the query exceeds a limit. 424: storage errors. 500: errors for which OpenTSDB sends 500.
/// 503: other requests use the memory that the query needs.
int QueryFailureStatus(const Status& status);

/// Returns the threads that help to print the JSON of a large response.
Printers PrintersOf(Services& services);

/// Records the time that storage took for each sub-query, as the statistic hbase.latency with
/// method=scan.
void RecordScans(Services& services, const query::Answer& answer);

/// Sends the error reply of a failed query and counts the failure.
void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out);

/// Sends the error reply of a query that failed after BeginQuery, counts the failure, and records
/// the end of the query. The HTTP status is that of QueryFailureStatus.
void FailQuery(const Request& request, Services& services, const Status& status,
               query::RunningRequest& running, ResponseWriter& out);

/// Sends the response of a query piece by piece, and records the end of the query. `write` gets a
/// ResponseWriter and writes the body to it. The function Write of this ResponseWriter fails after
/// the client has disconnected or the query was ended. If the query is ended before the first byte
/// was sent, the client gets an error response.
void SendAnswer(const Request& request, Services& services, query::RunningRequest& running,
                ResponseWriter& out, const std::function<void(ResponseWriter&)>& write);

/// Sends a JSON document as the response of a query, and records the end of the query (see
/// SendAnswer). If the request has a jsonp callback, the document is wrapped in the callback.
void SendJsonAnswer(const Request& request, Services& services, query::RunningRequest& running,
                    ResponseWriter& out, const std::function<void(JsonWriter*)>& write);

}  // namespace hg::http
