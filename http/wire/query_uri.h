#pragma once
// Parses queries in query strings (opentsdb-http-api.md §10.1–10.3, §11). Pure functions.

#include <string_view>
#include <vector>

#include "http/request/request.h"
#include "query/expression/gexp.h"
#include "query/last_point.h"
#include "query/plan/filter_set.h"
#include "query/request/request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Parses the parameters of GET /api/query; `start` must be present. InvalidArgument: 400.
/// Unsupported: an error for which OpenTSDB sends 500. `filters` compiles and keeps the filters; if
/// `filters` is nullptr, work and memory for the filters are not charged to the request.
Result<query::Request> ReadQuery(const Parameters& parameters, query::FilterSet* filters = nullptr);

/// Parses the `exp` parameters of GET /api/query/gexp. ReadQuery converts the metrics in them to
/// sub-queries, after those of `m`. Unsupported: an error for which OpenTSDB sends 500.
Result<std::vector<query::GexpCall>> ReadExpressions(const Parameters& parameters);

/// Parses one parameter `m`: aggregator, options, metric and filters. `filters` compiles the
/// filters; if `filters` is nullptr, their work and memory are not charged to the request.
Result<query::SubQuery> ReadMetricQuery(std::string_view text, query::FilterSet* filters = nullptr);
/// Parses one parameter `tsuid`.
Result<query::SubQuery> ReadTsuidQuery(std::string_view text);

/// Parses the parameters of GET /api/query/last. There may be no sub-queries.
Result<query::LastPointQuery> ReadLastPointQuery(const Parameters& parameters);

}  // namespace hg::http
