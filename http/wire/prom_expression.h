#pragma once
// Writes a PromQL expression as the tree that Prometheus' /api/v1/parse_query returns.

#include "http/wire/json_writer.h"
#include "query/promql/syntax.h"

namespace hg::http {

/// Writes one object for each node. Stops early if the client has disconnected. Recurses once per
/// level of the expression (query/promql/parser.h has the limits).
void WriteExpression(const query::promql::Expr& expr, JsonWriter* json);

}  // namespace hg::http
