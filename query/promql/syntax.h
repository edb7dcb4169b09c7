#pragma once
// A PromQL expression as a tree. parser.h creates the tree, type_check.h checks it, and evaluator.h
// evaluates it.

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

/// The offset and @ modifiers of a selector or subquery.
struct TimeShift {
  enum class At : uint8_t { kNone, kTime, kStart, kEnd };

  std::optional<int64_t> offset_ms;  // nullopt until a computed offset is resolved
  DurationExprPtr offset_expr;       // a computed offset, or nullptr
  At at = At::kNone;
  int64_t at_ms = 0;  // for At::kTime
};

struct NumberLiteral {
  double value = 0;
  bool duration = false;  // the literal is a duration, and its value is in seconds
};

struct StringLiteral {
  std::string value;
};

struct Selector {
  Matchers matchers;     // including one for the metric name
  bool named = false;    // matchers[0] is the metric name that was written in front of the braces
  int64_t range_ms = 0;  // 0 = an instant vector
  DurationExprPtr range_expr;  // a computed range, or nullptr
  TimeShift shift;
};

struct Subquery {
  ExprPtr inner;
  int64_t range_ms = 0;
  int64_t step_ms = 0;                    // 0 = not given
  DurationExprPtr range_expr, step_expr;  // computed range and step, or nullptr
  TimeShift shift;
};

struct Call {
  const FunctionSpec* function = nullptr;
  std::vector<ExprPtr> arguments;
};

struct Grouping {
  bool without = false;
  std::vector<std::string> labels;          // sorted, without repeats
  std::vector<std::string> written_labels;  // the same labels as written
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
  ExprPtr parameter;  // only for topk, bottomk, quantile, count_values
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
/// Returns whether the operator removes the metric name from its results, as all arithmetic does.
bool DropsName(BinaryOperator op);
/// Returns the operator in PromQL's notation.
std::string_view OperatorText(BinaryOperator op);
/// Returns the aggregation in PromQL's notation.
std::string_view AggregatorText(Aggregator aggregator);

/// Decides which series of two vectors belong together.
struct Matching {
  enum class Side : uint8_t { kNone, kLeft, kRight };

  bool given = false;               // whether `on` or `ignoring` was written
  bool on = false;                  // true = `on`, false = `ignoring`
  std::vector<std::string> labels;  // sorted, without repeats
  // Which side has several series that may match one series of the other side: the side of
  // group_left or group_right.
  Side many = Side::kNone;
  std::vector<std::string> included;  // labels to copy from the other side; sorted, without repeats
  std::vector<std::string> written_labels, written_included;  // the same labels as written
};

struct Binary {
  BinaryOperator op = BinaryOperator::kAdd;
  bool returns_bool = false;
  Matching matching;
  ExprPtr left, right;
};

struct Negation {
  ExprPtr inner;
  bool plus = false;  // unary plus, which changes nothing
};

struct Expr {
  size_t at = 0;            // byte offset in the text
  uint8_t parentheses = 0;  // the number of pairs of parentheses around the expression
  std::variant<NumberLiteral, StringLiteral, Selector, Subquery, Call, Aggregation, Binary,
               Negation>
      node;

  template <typename T>
  [[nodiscard]] const T* As() const {
    return std::get_if<T>(&node);
  }
};

/// Returns the type of the expression's result.
ValueType TypeOf(const Expr& expr);

/// Returns whether Prometheus evaluates the expression once for all steps of a query, because its
/// selectors have "@". It does not look at the parameter of an aggregation.
bool IsStepInvariant(const Expr& expr);

}  // namespace hg::query::promql
