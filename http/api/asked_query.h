#pragma once
// What the endpoints of queries share: a query's life from the request to the last byte of its
// answer, as /api/stats/query shows it.

#include <functional>
#include <memory>

#include "http/services.h"
#include "http/wire/json_parts.h"
#include "query/engine.h"
#include "query/running_query.h"

namespace hg::http {

/// The most work that a query may be where it holds up a loop: some hundreds of µs.
inline constexpr uint64_t kStepsOnLoop = 1 << 16;

/// The client of a request, for a query that it asks. `out` outlives the query.
query::QueryClient ClientOf(const Request& request, ResponseWriter& out);

/// The HTTP status of a failed query: 400 for the client's mistakes, unknown names and bad data,
/// 500 where OpenTSDB answers so, 413 for limits, 503 where others need the room, 424 for storage.
int QueryFailureStatus(const Status& status);

/// The threads that print an answer.
Printers PrintersOf(Services& services);

/// Counts how long storage took for each of the answer's sub-queries (hbase.latency, method=scan).
void RecordScans(Services& services, const query::Answer& answer);

/// Sends what a failed query is answered with, and counts it.
void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out);

/// The same, noted as the end of a query.
void FailQuery(const Request& request, Services& services, const Status& status,
               query::RunningQuery& running, ResponseWriter& out);

/// Streams the answer of a query: `write` gives its body to the writer it is handed, which fails
/// when the client has gone or the query was ended. Notes the query's end. An answer ended before
/// its first byte becomes an error.
void SendAnswer(const Request& request, Services& services, query::RunningQuery& running,
                ResponseWriter& out, const std::function<void(ResponseWriter&)>& write);

/// The same of one JSON document, wrapped for jsonp.
void SendJsonAnswer(const Request& request, Services& services, query::RunningQuery& running,
                    ResponseWriter& out, const std::function<void(JsonWriter*)>& write);

}  // namespace hg::http
