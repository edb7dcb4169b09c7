#pragma once
// Queries from query strings (spec http-api.md §10.1–10.3, §11). Pure.

#include <string_view>
#include <vector>

#include "http/request.h"
#include "query/expression/gexp.h"
#include "query/last_point.h"
#include "query/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Parameters of GET /api/query; `start` is present. InvalidArgument: 400. Unsupported: what
/// OpenTSDB answers with 500.
Result<query::Request> ReadQuery(const Parameters& parameters);

/// The `exp` of GET /api/query/gexp. Their metrics are sub-queries of ReadQuery, behind those of
/// `m`. Unsupported: what OpenTSDB answers with 500.
Result<std::vector<query::GexpCall>> ReadExpressions(const Parameters& parameters);

/// One `m`: aggregator, options, metric and filters.
Result<query::SubQuery> ReadMetricQuery(std::string_view text);
/// One `tsuid`.
Result<query::SubQuery> ReadTsuidQuery(std::string_view text);

/// Parameters of GET /api/query/last; sub-queries may be missing.
Result<query::LastPointQuery> ReadLastPointQuery(const Parameters& parameters);

}  // namespace hg::http
