#pragma once
// /api/v1/query and /api/v1/query_range of Prometheus (docs/promql.md). The first shares its path
// with OpenTSDB's queries; a parameter "query" selects PromQL.

#include "http/request/services.h"

namespace hg::http {

/// Returns true if a request to /api/query is a PromQL query.
bool AsksPromql(const Request& request);

void HandlePromQuery(const Request& request, Services& services, ResponseWriter& out);
void HandlePromQueryRange(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
