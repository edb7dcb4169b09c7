#pragma once
// Limits of expressions. Expressions come from clients, so a request beyond a limit is refused.

#include <cstddef>

namespace hg::query {

/// The longest expression in bytes. Each evaluation costs time in proportion to this length.
inline constexpr size_t kExpressionBytesMax = 16 * 1024;
/// The maximum number of levels of parentheses, signs, branches and calls. The parser recurses once
/// per level.
inline constexpr int kExpressionNestingMax = 100;
/// The maximum number of metrics and expressions of one request, together.
inline constexpr size_t kExpressionIdsMax = 1024;
/// The maximum number of series of one joined result.
inline constexpr size_t kJoinedSeriesMax = 64 * 1024;
/// The maximum number of values (rows times series) of all results of one request, 8 bytes each.
/// Results are complete before the first byte is sent, because a late failure must become a proper
/// error response.
inline constexpr size_t kResultValuesMax = 16 * 1024 * 1024;
/// The maximum number of instructions that the expressions of one request may run: about a minute
/// of one core.
inline constexpr size_t kEvaluationStepsMax = size_t{4} << 30;
/// Number of instructions after which the evaluator checks again whether the client still waits.
inline constexpr size_t kStepsPerPoll = 1 << 14;
/// The longest text in bytes that an expression may build.
inline constexpr size_t kTextBytesMax = 64 * 1024;

}  // namespace hg::query
