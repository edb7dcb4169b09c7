#pragma once
// Parses queries in query strings (opentsdb-http-api.md §10.1–10.3, §11). All functions are pure.

#include <string_view>
#include <vector>

#include "http/request/request.h"
#include "query/expression/gexp.h"
#include "query/last_point.h"
#include "query/plan/filter_set.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Parses the parameters of GET /api/query. The parameter `start` must be present. `filters`
/// compiles the filters and keeps them; if `filters` is nullptr, work and memory for the filters
/// are not charged to the request. InvalidArgument: a mistake of the client; the caller sends 400.
/// LimitExceeded: there are too many sub-queries. Unsupported: an error for which OpenTSDB sends
/// HTTP status 500.
Result<query::Request> ReadQuery(const Parameters& parameters, query::FilterSet* filters = nullptr);

/// Parses the `exp` parameters of GET /api/query/gexp. ReadQuery converts the metrics in these
/// parameters to sub-queries, which follow the sub-queries of the parameters `m`. Unsupported: an
/// error for which OpenTSDB sends HTTP status 500.
Result<std::vector<query::GexpCall>> ReadExpressions(const Parameters& parameters);

/// Parses the value of one parameter `m`: aggregator, options, metric and filters. `filters`
/// compiles the filters; if `filters` is nullptr, work and memory for the filters are not charged
/// to the request.
Result<query::SubQuery> ReadMetricQuery(std::string_view text, query::FilterSet* filters = nullptr);
/// Parses the value of one parameter `tsuid`.
Result<query::SubQuery> ReadTsuidQuery(std::string_view text);

/// Parses the parameters of GET /api/query/last. Parameters without sub-queries are valid.
Result<query::LastPointQuery> ReadLastPointQuery(const Parameters& parameters);

}  // namespace hg::http
