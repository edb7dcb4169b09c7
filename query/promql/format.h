#pragma once
// Prints PromQL expressions in the form of Prometheus' formatter.

#include <string>

#include "query/promql/syntax.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// Returns the text of the expression, without comments and with regular spaces. Operations, calls,
/// aggregations and parentheses of more than 100 bytes are divided into several lines. Parsing the
/// returned text gives an expression with the same meaning. Formatting this expression gives the
/// same text again. The only exception is a text that is too long for ParseExpression. The memory
/// of the text stays charged to `context` until the request ends. Returns the errors of `context`.
Result<std::string> FormatExpression(const Expr& expr,
                                     RequestContext& context = RequestContext::Unlimited());

/// Returns the operator of a label matcher in PromQL's notation, for example "=~".
std::string_view MatchKindText(MatchKind kind);

}  // namespace hg::query::promql
