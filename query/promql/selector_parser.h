#pragma once
// Parses the parts of a PromQL expression that select series and times: matchers, ranges, `offset`
// and `@`.

#include <string>
#include <string_view>
#include <vector>

#include "query/promql/syntax.h"
#include "query/promql/token_stream.h"

namespace hg::query::promql {

/// Parses a selector: a metric name, matchers in braces, or a name that is followed by matchers.
Result<Selector> TakeSelector(TokenStream* tokens);

struct LabelList {
  std::vector<std::string> sorted;   // label names, sorted, without repeats
  std::vector<std::string> written;  // label names in the order of the text
};

/// Parses a list of label names such as "(a, b)". The names may be in quotes.
Result<LabelList> TakeLabelList(TokenStream* tokens);

/// Returns whether TakeNumber can parse this token.
bool IsNumber(const Token& token);

/// Parses a number, or a duration such as "5m". Returns the number, or the duration in seconds.
Result<double> TakeNumber(TokenStream* tokens);

/// Returns the error for a feature that Prometheus offers only if a feature flag is set. `what` is
/// the name of the feature, for example "the function info". `at` is the byte offset of the feature
/// in the expression.
Status RefuseExperimental(const TokenStream& tokens, size_t at, std::string_view what);

/// Parses all suffixes of an operand, for example "[5m]", "[1h:5m]", "offset 5m" or "@ 1700000000".
/// Adds them to `*operand`, or replaces `*operand` by a subquery.
Status TakeSuffixes(TokenStream* tokens, ExprPtr* operand);

/// Returns whether the word is reserved, so that it cannot be a metric name at the start of an
/// operand.
bool IsReserved(const Token& word);

}  // namespace hg::query::promql
