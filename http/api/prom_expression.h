#pragma once
// What Prometheus' API returns for an expression without evaluating it: /api/v1/format_query,
// /api/v1/parse_query, and /api/v1/query_exemplars, which never finds any.

#include "http/services.h"

namespace hg::http {

/// The expression as a text in Prometheus' format (query/promql/format.h).
void HandlePromFormat(const Request& request, Services& services, ResponseWriter& out);
/// The expression as a tree (http/wire/prom_expression.h).
void HandlePromParse(const Request& request, Services& services, ResponseWriter& out);
/// An empty list, because exemplars are not stored. Parameters are checked.
void HandlePromExemplars(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
