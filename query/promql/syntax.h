#pragma once
// A PromQL expression as a tree. Made by parser.h, checked by type_check.h, run by evaluator.h.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "query/promql/matcher.h"

namespace hg::query::promql {

struct FunctionSpec;  // query/promql/function_table.h
struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class ValueType : uint8_t { kScalar, kString, kVector, kMatrix };

/// As in messages: "scalar", "string", "instant vector", "range vector".
std::string_view ValueTypeName(ValueType type);

/// What a selector or subquery is moved in time by.
struct TimeShift {
  enum class At : uint8_t { kNone, kTime, kStart, kEnd };

  std::optional<int64_t> offset_ms;
  At at = At::kNone;
  int64_t at_ms = 0;  // of At::kTime
};

struct NumberLiteral {
  double value = 0;
};

struct StringLiteral {
  std::string value;
};

struct Selector {
  Matchers matchers;     // the metric's name is one of them
  int64_t range_ms = 0;  // 0 = an instant vector
  TimeShift shift;
};

struct Subquery {
  ExprPtr inner;
  int64_t range_ms = 0;
  int64_t step_ms = 0;  // 0 = none given
  TimeShift shift;
};

struct Call {
  const FunctionSpec* function = nullptr;
  std::vector<ExprPtr> arguments;
};

struct Grouping {
  bool without = false;
  std::vector<std::string> labels;
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
  ExprPtr parameter;  // of topk, bottomk, quantile, count_values
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
/// Whether results are no longer what the metric is called: all arithmetic but atan2 (as Prometheus
/// 2.42 has it).
bool DropsName(BinaryOperator op);
/// As it is written.
std::string_view OperatorText(BinaryOperator op);

/// Which series of two vectors belong together.
struct Matching {
  enum class Side : uint8_t { kNone, kLeft, kRight };

  bool given = false;  // on or ignoring was written
  bool on = false;     // else ignoring
  std::vector<std::string> labels;
  Side many = Side::kNone;            // group_left, group_right: where several series may match one
  std::vector<std::string> included;  // labels taken over from the other side
};

struct Binary {
  BinaryOperator op = BinaryOperator::kAdd;
  bool returns_bool = false;
  Matching matching;
  ExprPtr left, right;
};

struct Negation {
  ExprPtr inner;
  bool plus = false;  // "+x": nothing but its type changes
};

struct Expr {
  size_t at = 0;  // byte of the text that it begins at
  bool in_parentheses = false;
  std::variant<NumberLiteral, StringLiteral, Selector, Subquery, Call, Aggregation, Binary,
               Negation>
      node;

  template <typename T>
  [[nodiscard]] const T* As() const {
    return std::get_if<T>(&node);
  }
};

/// What evaluating it gives.
ValueType TypeOf(const Expr& expr);

}  // namespace hg::query::promql
