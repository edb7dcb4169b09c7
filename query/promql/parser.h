#pragma once
// Parses the text of a PromQL expression into a syntax tree, and checks the types in the tree.

#include <cstddef>
#include <string_view>

#include "query/promql/matcher.h"
#include "query/promql/syntax.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// The maximum length of an expression in bytes.
inline constexpr size_t kExpressionBytesMax = 64 * 1024;
/// The maximum nesting depth of parentheses, signs, operators and calls. The parser and the
/// evaluator recurse once for each level.
inline constexpr int kNestingMax = 100;
/// The maximum number of operators in one expression. The limit is needed because a chain of
/// operators becomes a tree that is as deep as the chain is long.
inline constexpr int kOperatorsMax = 1000;
/// The maximum number of label matchers with regular expressions in one expression, or in all
/// match[] parameters of a request together.
inline constexpr int kPatternsMax = 100;

/// Parses an expression and checks its types. The memory of the tree stays charged to `context`
/// until the request ends. The message of InvalidArgument contains the line and the byte of the
/// error. Also returns the errors of `context`.
Result<ExprPtr> ParseExpression(std::string_view text,
                                RequestContext& context = RequestContext::Unlimited());

/// Parses a text that consists of a selector only, for example a match[] parameter of the HTTP API.
/// Returns the same errors as ParseExpression.
Result<Matchers> ParseSelector(std::string_view text,
                               RequestContext& context = RequestContext::Unlimited());

}  // namespace hg::query::promql
