#pragma once
// Writes a PromQL expression as a tree in JSON, in the form that /api/v1/parse_query of Prometheus
// returns.

#include "http/wire/json_writer.h"
#include "query/promql/syntax.h"

namespace hg::http {

/// Writes one JSON object for each node of the expression. Stops early if the client has
/// disconnected. Recurses once for each level of the expression (query/promql/parser.h has the
/// limits).
void WriteExpression(const query::promql::Expr& expr, JsonWriter* json);

}  // namespace hg::http
