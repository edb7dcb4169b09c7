#pragma once
// The syntax tree of a PromQL expression. parser.h creates the tree, type_check.h checks its types,
// and evaluator.h evaluates it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "query/promql/duration_expr.h"
#include "query/promql/matcher.h"

namespace hg::query::promql {

struct FunctionSpec;  // defined in query/promql/function_table.h
struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class ValueType : uint8_t { kScalar, kString, kVector, kMatrix };

/// Returns the name of the type for messages: "scalar", "string", "instant vector" or "range
/// vector".
std::string_view ValueTypeName(ValueType type);

/// The modifiers `offset` and `@` of a selector or subquery.
struct TimeShift {
  enum class At : uint8_t { kNone, kTime, kStart, kEnd };

  std::optional<int64_t> offset_ms;  // nullopt until a computed offset has been resolved
  DurationExprPtr offset_expr;       // the expression of a computed offset; otherwise nullptr
  At at = At::kNone;
  int64_t at_ms = 0;  // the time of `@`; used only for At::kTime
};

struct NumberLiteral {
  double value = 0;
  bool duration = false;  // whether the literal was written as a duration; `value` is in seconds
};

struct StringLiteral {
  std::string value;
};

struct Selector {
  Matchers matchers;           // all label matchers, including the one for the metric name
  bool named = false;          // whether matchers[0] comes from a metric name before the braces
  int64_t range_ms = 0;        // length of the range; 0 = the selector is an instant vector
  DurationExprPtr range_expr;  // the expression of a computed range; otherwise nullptr
  TimeShift shift;
};

struct Subquery {
  ExprPtr inner;
  int64_t range_ms = 0;
  int64_t step_ms = 0;  // step of the subquery; 0 = no step was given
  /// The expressions of a computed range and of a computed step; nullptr if the range or the step
  /// was written as a number.
  DurationExprPtr range_expr, step_expr;
  TimeShift shift;
};

struct Call {
  const FunctionSpec* function = nullptr;
  std::vector<ExprPtr> arguments;
};

struct Grouping {
  bool without = false;
  std::vector<std::string> labels;  // labels of by (...) or without (...), sorted, without repeats
  /// The labels of by (...) or without (...) as the client wrote them, in the order of the text.
  std::vector<std::string> written_labels;
};

enum class Aggregator : uint8_t {
  kSum,
  kAvg,
  kCount,
  kMin,
  kMax,
  kGroup,
  kStddev,
  kStdvar,
  kTopk,
  kBottomk,
  kQuantile,
  kCountValues,
};

struct Aggregation {
  Aggregator aggregator = Aggregator::kSum;
  Grouping grouping;
  ExprPtr parameter;  // argument of topk, bottomk, quantile, count_values; otherwise nullptr
  ExprPtr inner;
};

enum class BinaryOperator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kAtan2,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kUnless,
};

bool IsComparison(BinaryOperator op);
bool IsSetOperator(BinaryOperator op);
/// Returns whether the results of the operator have no metric name. This is so for all arithmetic
/// operators.
bool DropsName(BinaryOperator op);
/// Returns the operator as PromQL writes it, for example "==".
std::string_view OperatorText(BinaryOperator op);
/// Returns the name of the aggregation as PromQL writes it, for example "topk".
std::string_view AggregatorText(Aggregator aggregator);

/// The rule that decides which series of two vectors match each other.
struct Matching {
  enum class Side : uint8_t { kNone, kLeft, kRight };

  bool given = false;               // whether `on` or `ignoring` was written
  bool on = false;                  // true = `on`, false = `ignoring`
  std::vector<std::string> labels;  // labels of on (...) or ignoring (...), sorted, without repeats
  // The side (left or right) on which several series may match one series of the other side. It is
  // kLeft for group_left, kRight for group_right, and kNone if each series may match only one
  // series.
  Side many = Side::kNone;
  /// The labels of group_left (...) or group_right (...): they are copied from the side with one
  /// series. Sorted, without repeats.
  std::vector<std::string> included;
  /// The labels of on (...) or ignoring (...), and of group_left (...) or group_right (...), as the
  /// client wrote them, in the order of the text.
  std::vector<std::string> written_labels, written_included;
};

struct Binary {
  BinaryOperator op = BinaryOperator::kAdd;
  bool returns_bool = false;
  Matching matching;
  ExprPtr left, right;
};

struct Negation {
  ExprPtr inner;
  bool plus = false;  // whether the sign is a plus, which does not change the value
};

struct Expr {
  size_t at = 0;            // byte offset of the expression in the text
  uint8_t parentheses = 0;  // number of pairs of parentheses around the expression
  std::variant<NumberLiteral, StringLiteral, Selector, Subquery, Call, Aggregation, Binary,
               Negation>
      node;

  template <typename T>
  [[nodiscard]] const T* As() const {
    return std::get_if<T>(&node);
  }
};

/// Returns the type of the result of an expression.
ValueType TypeOf(const Expr& expr);

/// Returns whether Prometheus evaluates the expression only once for all steps of a query, because
/// all its selectors have the modifier `@`. The parameter of an aggregation is not examined.
bool IsStepInvariant(const Expr& expr);

}  // namespace hg::query::promql
