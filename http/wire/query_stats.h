#pragma once
// Writes statistics of queries for /api/query and /api/stats/query (opentsdb-http-api.md §10.7,
// §15.3).

#include "http/wire/json_writer.h"
#include "query/request/answer.h"
#include "query/request/running_request.h"
#include "query/request/running_requests.h"
#include "storage/base/status.h"

namespace hg::http {

/// Writes the object "stats" for one result of the sub-query with the index `index`. `print_ns` is
/// the time in nanoseconds that printing this result took.
void WriteGroupStats(const query::Group& group, const query::SubQueryStats& stats, size_t index,
                     int64_t print_ns, JsonWriter* json);

/// Writes the object "statsSummary", which is also the object "stats" of a completed query.
/// OpenTSDB's format has a list of scanners for each sub-query; Hourglass reports only one scanner
/// for each sub-query. Returns early if the client has disconnected.
void WriteQueryStats(const query::QueryStats& stats, JsonWriter* json);

/// Writes the whole response of /api/stats/query. Hourglass adds the fields "id", "phase" and
/// "memory" (in bytes) to the fields that OpenTSDB has for a query. It also adds the member
/// "requests": the running requests that are not queries. If there are no such requests, "requests"
/// is absent.
///
/// The response lists only requests that began before `own`, which is the request that gets the
/// response. The function calls Check of `own` before each entry and returns its errors. So that a
/// slow client does not keep entries in memory, the function holds only one entry at a time. If a
/// request or a query leaves its list before the function has come to it, or if a request becomes a
/// query meanwhile, it is not in the response.
Status WriteRequestList(query::RunningRequests& requests, query::RunningRequest& own,
                        JsonWriter* json);

}  // namespace hg::http
