#pragma once
// PromQL expressions that compute a duration, such as 5m * 2 in "m[5m * 2]", and step() + 1 in "m
// offset (step() + 1)". Ranges, steps of subqueries, and offsets may be such computed durations.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

class TokenStream;
struct Expr;

struct DurationExpr;
using DurationExprPtr = std::shared_ptr<const DurationExpr>;

/// A node in the syntax tree of a computed duration. Nodes are immutable, so several copies of a
/// PromQL expression may share them.
struct DurationExpr {
  enum class Kind : uint8_t {
    kNumber,
    kStep,   // step(): the step of the query
    kRange,  // range(): the time between the start and the end of the query
    kMinOf,
    kMaxOf,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
    kPower,
  };

  Kind kind = Kind::kNumber;
  double seconds = 0;              // the number in seconds; used only for kNumber
  bool duration = false;           // whether the number was written with units, for example 5m
  bool parentheses = false;        // whether the node was written in parentheses
  size_t at = 0;                   // byte offset of the node in the text
  DurationExprPtr left = nullptr;  // left operand; nullptr for a number, step(), range() and a sign
  DurationExprPtr right = nullptr;  // right operand; nullptr for a number, step() and range()
};

/// The values of the PromQL functions step() and range(), in milliseconds. Both are 0 for an
/// instant query.
struct DurationTimes {
  int64_t step_ms = 0, range_ms = 0;
};

/// Parses the duration after an opening square bracket: a number, or a computed duration.
/// InvalidArgument: the text is not a duration, or it has too many levels or operators.
Result<DurationExprPtr> TakeDurationExpr(TokenStream* tokens);

/// Parses the duration after the word `offset`. The duration ends before the first operator that is
/// not in parentheses. There is one exception: if the duration begins with a parenthesis or with
/// two signs, it may contain operators outside parentheses.
Result<DurationExprPtr> TakeOffsetExpr(TokenStream* tokens);

/// Converts the seconds of a kNumber node to whole milliseconds.
int64_t LiteralMs(const DurationExpr& number);

/// Returns the text of the duration expression in the form in which Prometheus prints it.
std::string DurationExprText(const DurationExpr& expr);

/// Returns the name of the operator or function of a node, as Prometheus writes it. Returns "" for
/// kNumber.
std::string_view DurationKindText(DurationExpr::Kind kind);

/// Computes all durations of an expression, and sets its ranges, steps and offsets to the results.
/// Call this function before you evaluate the expression. `text` is the text of the expression, for
/// error messages. InvalidArgument: a duration is not a number, a duration is out of range, or a
/// range or step is not greater than 0.
Status ResolveDurations(std::string_view text, const DurationTimes& times, Expr* expr);

}  // namespace hg::query::promql
