#pragma once
// Limits for expressions. Clients send the expressions, so the server rejects a request that
// exceeds a limit.

#include <cstddef>

namespace hg::query {

/// The maximum length of an expression in bytes. The time of one evaluation grows with this length.
inline constexpr size_t kExpressionBytesMax = 16 * 1024;
/// The maximum nesting depth of parentheses, signs, branches and calls. The parser recurses once
/// for each level.
inline constexpr int kExpressionNestingMax = 100;
/// The maximum number of metrics and expressions in one request, counted together. The limit
/// also applies to the number of outputs, because several outputs may show one expression.
inline constexpr size_t kExpressionIdsMax = 1024;
/// The maximum number of series in the result of one join.
inline constexpr size_t kJoinedSeriesMax = 64 * 1024;
/// The maximum number of values (rows times series) in all results of one request. A value has 8
/// bytes. The limit is needed because the server computes all results before it sends the first
/// byte: an error after the first byte could not become a proper error response. The values and
/// the descriptions of series that several outputs repeat also count.
inline constexpr size_t kResultValuesMax = 16 * 1024 * 1024;
/// The maximum number of instructions that the expressions of one request may run. This number of
/// instructions takes about one minute on one core.
inline constexpr size_t kEvaluationStepsMax = size_t{4} << 30;
/// The number of instructions after which the evaluator checks whether the client is still
/// connected.
inline constexpr size_t kStepsPerPoll = 1 << 14;
/// The maximum length in bytes of a text that an expression creates.
inline constexpr size_t kTextBytesMax = 64 * 1024;
/// The maximum number of bytes of all created texts that one evaluation of an expression keeps at
/// the same time. A text that several variables share counts once. Literals do not count.
inline constexpr size_t kKeptTextBytesMax = 1024 * 1024;

}  // namespace hg::query
