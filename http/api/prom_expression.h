#pragma once
// Responses of Prometheus' API for an expression that is not evaluated: /api/v1/format_query,
// /api/v1/parse_query, and /api/v1/query_exemplars, which always returns an empty list.

#include "http/request/services.h"

namespace hg::http {

/// /api/v1/format_query: returns the expression as text in Prometheus' format
/// (query/promql/format.h).
void HandlePromFormat(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/parse_query: returns the syntax tree of the expression (http/wire/prom_expression.h).
void HandlePromParse(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/query_exemplars: checks the parameters and returns an empty list, because exemplars are
/// not stored.
void HandlePromExemplars(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
