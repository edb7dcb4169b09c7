#pragma once
// From a text to a checked tree.

#include <cstddef>
#include <string_view>

#include "query/promql/matcher.h"
#include "query/promql/syntax.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// Bytes of one expression.
inline constexpr size_t kExpressionBytesMax = 64 * 1024;
/// Levels of parentheses, signs, operators and calls: parsing and evaluating go down one call for
/// each.
inline constexpr int kNestingMax = 100;
/// Operators of one expression: a row of them makes a tree as deep as it is long.
inline constexpr int kOperatorsMax = 1000;
/// Matchers with regular expressions of one expression, or of all match[] of a request together.
inline constexpr int kPatternsMax = 100;

/// An expression, types checked. InvalidArgument: "1:5: parse error: …", with line and byte.
Result<ExprPtr> ParseExpression(std::string_view text);

/// A selector alone, such as the match[] of the HTTP API.
Result<Matchers> ParseSelector(std::string_view text);

}  // namespace hg::query::promql
