#pragma once
// Limits of expressions. Clients send expressions, so a request beyond a limit is rejected.

#include <cstddef>

namespace hg::query {

/// The maximum length of an expression in bytes. The time for an evaluation grows with the length.
inline constexpr size_t kExpressionBytesMax = 16 * 1024;
/// The maximum nesting depth of parentheses, signs, branches and calls. The parser recurses once
/// per level.
inline constexpr int kExpressionNestingMax = 100;
/// The maximum number of metrics and expressions in one request, counted together.
inline constexpr size_t kExpressionIdsMax = 1024;
/// The maximum number of series in the result of one join.
inline constexpr size_t kJoinedSeriesMax = 64 * 1024;
/// The maximum number of values (rows times series) in all results of one request, 8 bytes each.
/// Results are complete before the first byte is sent, because otherwise a late failure could not
/// become a proper error response.
inline constexpr size_t kResultValuesMax = 16 * 1024 * 1024;
/// The maximum number of instructions that the expressions of one request may run: about a minute
/// of one core.
inline constexpr size_t kEvaluationStepsMax = size_t{4} << 30;
/// Number of instructions after which the evaluator checks again if the client is connected.
inline constexpr size_t kStepsPerPoll = 1 << 14;
/// The maximum length in bytes of a text that an expression creates.
inline constexpr size_t kTextBytesMax = 64 * 1024;

}  // namespace hg::query
