#pragma once
// Values of the expression language and their arithmetic: JEXL 2.1.1 in its lenient mode, as it was
// recorded (opentsdb-queries.md §11.3).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "storage/base/status.h"

namespace hg::query {

/// An Integer, Long or BigInteger of Java. The result of an operation has the narrowest width that
/// the types of its operands allow.
struct Integer {
  enum class Width : uint8_t { kInt, kLong, kBig };
  __int128 number = 0;
  Width width = Width::kInt;
};

/// A literal without suffix: a float32 that counts as the double of its shortest decimal text.
struct Single {
  explicit Single(float v);
  float value;
  double wide;
};

/// A value of an expression. monostate is null.
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

/// Computes `left op right`. InvalidArgument: the operator does not accept these operands, or the
/// result exceeds 128 bits or kTextBytesMax. Division and remainder by zero return 0.0.
Status Apply(BinaryOperator op, const Value& left, const Value& right, Value* out);
Status Negate(const Value& operand, Value* out);
Status Complement(const Value& operand, Value* out);
/// Returns the value as a condition. null, zero, NaN, and texts other than "true" are false.
bool IsTrue(const Value& value);

/// Like Apply, for two doubles. In comparisons NaN equals itself and is less than everything else.
double ApplyArithmetic(BinaryOperator op, double left, double right);
bool ApplyComparison(BinaryOperator op, double left, double right);
constexpr bool IsArithmetic(BinaryOperator op) { return op <= BinaryOperator::kModulo; }
constexpr bool IsComparison(BinaryOperator op) {
  return op >= BinaryOperator::kEqual && op <= BinaryOperator::kGreaterOrEqual;
}

/// Returns the name of the value's type, such as "an integer" or "a text", for messages.
std::string_view TypeName(const Value& value);

}  // namespace hg::query
