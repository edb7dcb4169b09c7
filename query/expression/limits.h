#pragma once
// What an expression may cost. Texts come from clients, so each of these is a refusal at the edge.

#include <cstddef>

namespace hg::query {

/// Bytes of one expression's text: every evaluated value costs time in proportion to it.
inline constexpr size_t kExpressionBytesMax = 16 * 1024;
/// Levels of parentheses, signs, branches and calls: parsing goes down one call per level.
inline constexpr int kExpressionNestingMax = 100;
/// Metrics and expressions of one request, together.
inline constexpr size_t kExpressionIdsMax = 1024;
/// Series of one joined result.
inline constexpr size_t kJoinedSeriesMax = 64 * 1024;
/// Values (rows times series) of all results of one request, 8 bytes each: results are complete
/// before the first byte is sent, because a late failure must become a clean error.
inline constexpr size_t kResultValuesMax = 16 * 1024 * 1024;
/// Instructions that the expressions of one request may run: about a minute of one core.
inline constexpr size_t kEvaluationStepsMax = size_t{4} << 30;
/// Instructions between two looks at whether somebody waits still.
inline constexpr size_t kStepsPerPoll = 1 << 14;
/// Bytes of a text that an expression builds.
inline constexpr size_t kTextBytesMax = 64 * 1024;

}  // namespace hg::query
