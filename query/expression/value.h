#pragma once
// Values of the expression language of /api/query/exp, and their arithmetic. The results are those
// of JEXL 2.1.1 in lenient mode, as recorded from OpenTSDB (opentsdb-queries.md §11.3).

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// A text, which is never nullptr. Copies of a value share its text.
using SharedText = std::shared_ptr<const std::string>;

/// A value of an expression. The alternative std::monostate stands for null.
using Value = std::variant<std::monostate, bool, Integer, Single, double, SharedText>;

/// Returns the text of a value, or nullptr if the value is not a text.
inline const std::string* TextOf(const Value& value) {
  const auto* text = std::get_if<SharedText>(&value);
  return text != nullptr ? text->get() : nullptr;
}

/// Creates the texts of one evaluation, and limits the memory of those that still exist. The object
/// must outlive the texts that it has created. Not thread-safe.
class TextMemory {
 public:
  TextMemory() = default;
  TextMemory(const TextMemory&) = delete;
  TextMemory& operator=(const TextMemory&) = delete;

  /// Sets `*out` to a new text that consists of `left` and `right`. InvalidArgument: the text
  /// exceeds kTextBytesMax, or all texts together exceed kKeptTextBytesMax.
  Status Concatenate(std::string_view left, std::string_view right, Value* out);
  /// Returns the number of bytes of the created texts that still exist.
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

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

/// Sets `*out` to the result of `left op right`. If the result is a text, `texts` creates it.
/// InvalidArgument: the operator does not accept these operands, the result exceeds 128 bits, or
/// `texts` refuses the text. A division by zero and a remainder by zero give 0.0.
Status Apply(BinaryOperator op, const Value& left, const Value& right, TextMemory* texts,
             Value* out);
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
