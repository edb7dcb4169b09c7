#pragma once
// Values of the expression language and its arithmetic: JEXL 2.1.1 in its lenient mode, as recorded
// (spec query.md §11.3). Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "storage/base/status.h"

namespace hg::query {

/// Java's Integer, Long or BigInteger: results are as narrow as their operands allow.
struct Integer {
  enum class Width : uint8_t { kInt, kLong, kBig };
  __int128 number = 0;
  Width width = Width::kInt;
};

/// A literal without suffix: a float32, which counts as the double of its shortest text.
struct Single {
  explicit Single(float v);
  float value;
  double wide;
};

/// monostate is null.
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

/// InvalidArgument: the operands do not fit the operator, or the result outgrows 128 bits or
/// kTextBytesMax. Division and remainder by zero give 0.0.
Status Apply(BinaryOperator op, const Value& left, const Value& right, Value* out);
Status Negate(const Value& operand, Value* out);
Status Complement(const Value& operand, Value* out);
/// What conditions see: null, zero, NaN and texts other than "true" are false.
bool IsTrue(const Value& value);

/// The double form of what two doubles give; comparisons take NaN as equal to itself and less than
/// everything else.
double ApplyArithmetic(BinaryOperator op, double left, double right);
bool ApplyComparison(BinaryOperator op, double left, double right);
constexpr bool IsArithmetic(BinaryOperator op) { return op <= BinaryOperator::kModulo; }
constexpr bool IsComparison(BinaryOperator op) {
  return op >= BinaryOperator::kEqual && op <= BinaryOperator::kGreaterOrEqual;
}

/// "an integer", "a text", …: for messages.
std::string_view TypeName(const Value& value);

}  // namespace hg::query
