#pragma once
// Writes statistics of queries for /api/query and /api/stats/query (opentsdb-http-api.md §10.7,
// §15.3).

#include <memory>
#include <vector>

#include "http/wire/json_writer.h"
#include "query/request/answer.h"
#include "query/request/running_requests.h"

namespace hg::http {

/// Writes the object "stats" for one result of the sub-query with the index `index`. `print_ns` is
/// the time in nanoseconds that printing this result took.
void WriteGroupStats(const query::Group& group, const query::SubQueryStats& stats, size_t index,
                     int64_t print_ns, JsonWriter* json);

/// Writes the object "statsSummary", which is also the object "stats" of a completed query.
/// OpenTSDB's format has a list of scanners for each sub-query; Hourglass reports only one scanner
/// for each sub-query.
void WriteQueryStats(const query::QueryStats& stats, JsonWriter* json);

/// Writes the whole response of /api/stats/query. Hourglass adds the fields "id", "phase" and
/// "memory" (in bytes) to the fields that OpenTSDB has for a query. It also adds the member
/// "requests": the running requests that are not queries. The request with the id `own_id`, which
/// gets this response, is left out. If there are no such requests, "requests" is absent.
void WriteRequestList(const std::vector<query::RunningRequestInfo>& running,
                      const std::vector<std::shared_ptr<const query::CompletedQuery>>& completed,
                      uint64_t own_id, JsonWriter* json);

}  // namespace hg::http
