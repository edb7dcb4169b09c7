#pragma once
// Parses the parts of PromQL that select series and times: matchers, ranges, `offset` and `@`.

#include <string>
#include <string_view>
#include <vector>

#include "query/promql/syntax.h"
#include "query/promql/token_stream.h"

namespace hg::query::promql {

/// Parses a metric name, matchers in braces, or both.
Result<Selector> TakeSelector(TokenStream* tokens);

struct LabelList {
  std::vector<std::string> sorted;   // sorted, without repeats
  std::vector<std::string> written;  // in the order of the text
};

/// Parses a list of label names such as "(a, b)". The names may be quoted.
Result<LabelList> TakeLabelList(TokenStream* tokens);

/// Returns whether TakeNumber can parse the token.
bool IsNumber(const Token& token);

/// Parses a number, or a duration such as "5m", and returns the number or the seconds.
Result<double> TakeNumber(TokenStream* tokens);

/// Returns the error for a feature that Prometheus has only behind a feature flag. `what` is the
/// name of the feature, for example "the function info".
Status RefuseExperimental(const TokenStream& tokens, size_t at, std::string_view what);

/// Parses all suffixes of an operand: "[5m]", "[1h:5m]", "offset 5m", "@ 1700000000". Changes or
/// replaces *operand.
Status TakeSuffixes(TokenStream* tokens, ExprPtr* operand);

/// Returns whether the word cannot be a metric name at the begin of an operand.
bool IsReserved(const Token& word);

}  // namespace hg::query::promql
