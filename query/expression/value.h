#pragma once
// Values of the expression language of /api/query/exp, and their arithmetic. The results are those
// of JEXL 2.1.1 in lenient mode, as recorded from OpenTSDB (opentsdb-queries.md §11.3).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "storage/base/status.h"

namespace hg::query {

/// An Integer, Long or BigInteger of Java. The result of integer arithmetic has the narrowest of
/// these types that can hold the number and that is not narrower than the type of any operand.
struct Integer {
  enum class Width : uint8_t { kInt, kLong, kBig };
  __int128 number = 0;
  Width width = Width::kInt;
};

/// A literal such as 1.5 or 1.5f (a Float of Java). Its value is rounded to float32, and then
/// converted to double through the shortest decimal text of the float32.
struct Single {
  explicit Single(float v);
  float value;
  double wide;
};

/// A value of an expression. The alternative std::monostate stands for null.
using Value = std::variant<std::monostate, bool, Integer, Single, double, std::string>;

enum class BinaryOperator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kBitAnd,
  kBitOr,
  kBitXor,
};

/// Sets `*out` to the result of `left op right`. InvalidArgument: the operator does not accept
/// these operands, or the result exceeds 128 bits or kTextBytesMax. A division by zero and a
/// remainder by zero give 0.0.
Status Apply(BinaryOperator op, const Value& left, const Value& right, Value* out);
Status Negate(const Value& operand, Value* out);
Status Complement(const Value& operand, Value* out);
/// Returns whether the value counts as true in a condition. null, zero, NaN, and all texts except
/// "true" count as false.
bool IsTrue(const Value& value);

/// ApplyArithmetic computes `left op right` for two doubles and an arithmetic operator.
/// ApplyComparison does the same for a comparison; NaN equals NaN and is less than all other
/// values.
double ApplyArithmetic(BinaryOperator op, double left, double right);
bool ApplyComparison(BinaryOperator op, double left, double right);
constexpr bool IsArithmetic(BinaryOperator op) { return op <= BinaryOperator::kModulo; }
constexpr bool IsComparison(BinaryOperator op) {
  return op >= BinaryOperator::kEqual && op <= BinaryOperator::kGreaterOrEqual;
}

/// Returns the name of the type of a value for error messages, for example "an integer" or "a
/// text".
std::string_view TypeName(const Value& value);

}  // namespace hg::query
