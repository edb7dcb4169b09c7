#pragma once
// Statistics of queries, as /api/query and /api/stats/query print them (spec http-api.md §10.7,
// §15.3).

#include <memory>
#include <vector>

#include "http/wire/json_writer.h"
#include "query/answer.h"
#include "query/running.h"

namespace hg::http {

/// The "stats" object of one output of the sub-query `index`.
void WriteGroupStats(const query::Group& group, const query::SubQueryStats& stats, size_t index,
                     int64_t print_ns, JsonWriter* json);

/// The object of "statsSummary", and of "stats" of a completed query. One scanner for each
/// sub-query: the store is one.
void WriteQueryStats(const query::QueryStats& stats, JsonWriter* json);

/// The whole of /api/stats/query. Ours beside OpenTSDB's fields: "id", "phase", "memory" in bytes.
void WriteQueryList(const std::vector<query::RunningQueryInfo>& running,
                    const std::vector<std::shared_ptr<const query::CompletedQuery>>& completed,
                    JsonWriter* json);

}  // namespace hg::http
