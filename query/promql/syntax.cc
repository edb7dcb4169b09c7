#include "query/promql/syntax.h"

#include <algorithm>

#include "query/promql/function_table.h"

namespace hg::query::promql {

std::string_view ValueTypeName(ValueType type) {
  switch (type) {
    case ValueType::kScalar:
      return "scalar";
    case ValueType::kString:
      return "string";
    case ValueType::kVector:
      return "instant vector";
    case ValueType::kMatrix:
      return "range vector";
  }
  return "";
}

bool IsComparison(BinaryOperator op) {
  return op >= BinaryOperator::kEqual && op <= BinaryOperator::kGreaterOrEqual;
}

bool DropsName(BinaryOperator op) { return op <= BinaryOperator::kAtan2; }

bool IsSetOperator(BinaryOperator op) { return op >= BinaryOperator::kAnd; }

std::string_view OperatorText(BinaryOperator op) {
  constexpr std::string_view kTexts[] = {"+",  "-", "*",  "/", "%",  "^",   "atan2", "==",
                                         "!=", "<", "<=", ">", ">=", "and", "or",    "unless"};
  return kTexts[static_cast<size_t>(op)];
}

std::string_view AggregatorText(Aggregator aggregator) {
  constexpr std::string_view kTexts[] = {"sum",  "avg",     "count",    "min",
                                         "max",  "group",   "stddev",   "stdvar",
                                         "topk", "bottomk", "quantile", "count_values"};
  return kTexts[static_cast<size_t>(aggregator)];
}

ValueType TypeOf(const Expr& expr) {
  if (expr.As<NumberLiteral>() != nullptr) return ValueType::kScalar;
  if (expr.As<StringLiteral>() != nullptr) return ValueType::kString;
  if (const auto* selector = expr.As<Selector>())
    return selector->range_ms > 0 ? ValueType::kMatrix : ValueType::kVector;
  if (expr.As<Subquery>() != nullptr) return ValueType::kMatrix;
  if (const auto* call = expr.As<Call>()) return call->function->returns;
  if (const auto* negation = expr.As<Negation>()) return TypeOf(*negation->inner);
  if (const auto* binary = expr.As<Binary>()) {
    const bool scalars =
        TypeOf(*binary->left) == ValueType::kScalar && TypeOf(*binary->right) == ValueType::kScalar;
    return scalars ? ValueType::kScalar : ValueType::kVector;
  }
  return ValueType::kVector;
}

bool IsStepInvariant(const Expr& expr) {
  const auto fixed = [](const TimeShift& shift) { return shift.at != TimeShift::At::kNone; };
  if (const auto* selector = expr.As<Selector>()) return fixed(selector->shift);
  if (const auto* subquery = expr.As<Subquery>()) return fixed(subquery->shift);
  if (const auto* aggregation = expr.As<Aggregation>()) return IsStepInvariant(*aggregation->inner);
  if (const auto* negation = expr.As<Negation>()) return IsStepInvariant(*negation->inner);
  if (const auto* binary = expr.As<Binary>())
    return IsStepInvariant(*binary->left) && IsStepInvariant(*binary->right);
  const auto* const call = expr.As<Call>();
  if (call == nullptr) return true;  // a literal
  const std::string_view name = call->function->name;
  if (name == "timestamp") {
    const auto* selector = call->arguments[0]->As<Selector>();
    return selector != nullptr && fixed(selector->shift);
  }
  for (const std::string_view moving :
       {"days_in_month", "day_of_month", "day_of_week", "day_of_year", "hour", "minute", "month",
        "year", "predict_linear", "time"}) {
    if (name == moving) return false;
  }
  return std::all_of(call->arguments.begin(), call->arguments.end(),
                     [](const ExprPtr& argument) { return IsStepInvariant(*argument); });
}

}  // namespace hg::query::promql
