#pragma once
// The parts of the grammar that say which series and which times: matchers, ranges, offset and @.

#include <string>
#include <vector>

#include "query/promql/syntax.h"
#include "query/promql/token_stream.h"

namespace hg::query::promql {

/// A name of a metric and matchers in braces, or one of both.
Result<Selector> TakeSelector(TokenStream* tokens);

/// "(a, b)": names of labels, which may be quoted.
Result<std::vector<std::string>> TakeLabelList(TokenStream* tokens);

/// What may stand behind an operand, as long as any of it comes: "[5m]", "[1h:5m]", "offset 5m",
/// "@ 1700000000". Replaces *operand by what it becomes.
Status TakeSuffixes(TokenStream* tokens, ExprPtr* operand);

/// True if the word cannot be a metric's name where an operand may stand.
bool IsReserved(const Token& word);

}  // namespace hg::query::promql
