#include "query/promql/type_check.h"

#include <algorithm>
#include <string>

#include "query/promql/function_table.h"
#include "query/promql/lexer.h"

namespace hg::query::promql {
namespace {

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  Status Check(const Expr& expr) const {
    if (const auto* call = expr.As<Call>()) return CheckCall(expr.at, *call);
    if (const auto* aggregation = expr.As<Aggregation>()) return CheckAggregation(*aggregation);
    if (const auto* binary = expr.As<Binary>()) return CheckBinary(expr.at, *binary);
    if (const auto* negation = expr.As<Negation>()) {
      RETURN_IF_ERROR(Check(*negation->inner));
      return ExpectNumbers(*negation->inner, "a sign belongs to");
    }
    if (const auto* subquery = expr.As<Subquery>()) {
      RETURN_IF_ERROR(Check(*subquery->inner));
      return Expect(*subquery->inner, ValueType::kVector, "in a subquery");
    }
    return {};
  }

 private:
  Status Expect(const Expr& expr, ValueType wanted, const std::string& where) const {
    const ValueType type = TypeOf(expr);
    if (type == wanted) return {};
    return ParseFailure(text_, expr.at,
                        "expected " + std::string(ValueTypeName(wanted)) + " " + where + ", got " +
                            std::string(ValueTypeName(type)));
  }

  Status ExpectNumbers(const Expr& expr, const std::string& what) const {
    const ValueType type = TypeOf(expr);
    if (type == ValueType::kScalar || type == ValueType::kVector) return {};
    return ParseFailure(
        text_, expr.at,
        what + " a scalar or an instant vector, not a " + std::string(ValueTypeName(type)));
  }

  Status CheckCall(size_t at, const Call& call) const {
    const FunctionSpec& function = *call.function;
    const std::string name(function.name);
    const size_t count = call.arguments.size();
    if (count < function.least || count > function.most) {
      std::string wanted = std::to_string(function.least);
      if (function.most == FunctionSpec::kUnlimited) {
        wanted = "at least " + wanted;
      } else if (function.most != function.least) {
        wanted += " to " + std::to_string(function.most);
      }
      return ParseFailure(text_, at,
                          name + " takes " + wanted + " arguments, not " + std::to_string(count));
    }
    for (size_t i = 0; i < count; ++i) {
      const Expr& argument = *call.arguments[i];
      RETURN_IF_ERROR(Check(argument));
      RETURN_IF_ERROR(Expect(argument,
                             function.arguments[std::min(i, function.arguments.size() - 1)],
                             "in call of " + name));
    }
    return {};
  }

  Status CheckAggregation(const Aggregation& aggregation) const {
    if (aggregation.parameter != nullptr) {
      RETURN_IF_ERROR(Check(*aggregation.parameter));
      const bool text = aggregation.aggregator == Aggregator::kCountValues;
      RETURN_IF_ERROR(Expect(*aggregation.parameter, text ? ValueType::kString : ValueType::kScalar,
                             "as parameter of the aggregation"));
    }
    RETURN_IF_ERROR(Check(*aggregation.inner));
    return Expect(*aggregation.inner, ValueType::kVector, "in the aggregation");
  }

  Status CheckBinary(size_t at, const Binary& binary) const {
    const std::string op(OperatorText(binary.op));
    RETURN_IF_ERROR(Check(*binary.left));
    RETURN_IF_ERROR(Check(*binary.right));
    RETURN_IF_ERROR(ExpectNumbers(*binary.left, op + " combines"));
    RETURN_IF_ERROR(ExpectNumbers(*binary.right, op + " combines"));
    const bool left_scalar = TypeOf(*binary.left) == ValueType::kScalar,
               right_scalar = TypeOf(*binary.right) == ValueType::kScalar;
    const Matching& matching = binary.matching;
    if (binary.returns_bool && !IsComparison(binary.op))
      return ParseFailure(text_, at, "bool belongs to comparisons, not to " + op);
    if (IsComparison(binary.op) && left_scalar && right_scalar && !binary.returns_bool)
      return ParseFailure(text_, at, "comparisons of scalars need bool: " + op + " bool");
    if (matching.given && (left_scalar || right_scalar))
      return ParseFailure(text_, at, "on and ignoring match two instant vectors, no scalars");
    if (IsSetOperator(binary.op) && (left_scalar || right_scalar))
      return ParseFailure(text_, at, op + " combines two instant vectors, no scalars");
    if (IsSetOperator(binary.op) && matching.many != Matching::Side::kNone)
      return ParseFailure(text_, at, op + " takes no group_left or group_right");
    for (const std::string& label : matching.included) {
      const auto& labels = matching.labels;
      if (matching.on && std::binary_search(labels.begin(), labels.end(), label))
        return ParseFailure(text_, at, "label \"" + label + "\" is in both on and group");
    }
    return {};
  }

  const std::string_view text_;
};

}  // namespace

Status CheckTypes(std::string_view text, const Expr& expr) { return Checker(text).Check(expr); }

}  // namespace hg::query::promql
