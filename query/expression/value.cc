#include "query/expression/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "query/buckets/aggregator.h"
#include "query/expression/limits.h"
#include "storage/model/number_text.h"

namespace hg::query {
namespace {

using Width = Integer::Width;

// The result of the conversion of an operand to a number. If it is kWrongType, division and
// remainder return 0.0. If it is kWrongText, only addition is possible, which concatenates both
// operands as texts.
enum class Coercion : uint8_t { kDone, kWrongType, kWrongText };

bool IsFloating(const Value& v) {
  return std::holds_alternative<Single>(v) || std::holds_alternative<double>(v);
}

// Returns true if the operation is a floating-point one because of this operand. A text that looks
// like a decimal number has this effect, too.
bool WantsDouble(const Value& v) {
  if (const std::string* text = TextOf(v)) {
    return text->find_first_of(".eE") != std::string::npos;
  }
  return IsFloating(v);
}

struct ToDouble {
  double* out;
  Coercion operator()(std::monostate) const { return Set(0); }
  Coercion operator()(bool v) const { return Set(v ? 1 : 0); }
  Coercion operator()(const Integer& v) const { return Set(static_cast<double>(v.number)); }
  Coercion operator()(const Single& v) const { return Set(v.wide); }
  Coercion operator()(double v) const { return Set(v); }
  Coercion operator()(const SharedText& v) const {
    std::string_view text = JavaTrim(*v);
    using Limits = std::numeric_limits<double>;
    if (text.empty() || text == "NaN") return Set(Limits::quiet_NaN());
    if (text == "Infinity" || text == "+Infinity") return Set(Limits::infinity());
    if (text == "-Infinity") return Set(-Limits::infinity());
    return ParseJavaDouble(text, out) ? Coercion::kDone : Coercion::kWrongText;
  }
  Coercion Set(double v) const {
    *out = v;
    return Coercion::kDone;
  }
};

Coercion AsDouble(const Value& v, double* out) { return std::visit(ToDouble{out}, v); }

Coercion TextToInteger(std::string_view text, __int128* out) {
  text = JavaTrim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty()) {
    *out = 0;
    return Coercion::kDone;
  }
  if (error != std::errc() || end != text.data() + text.size()) return Coercion::kWrongText;
  *out = n;
  return Coercion::kDone;
}

// Converts an operand for integer arithmetic, which does not accept booleans.
Coercion AsInteger(const Value& v, __int128* out) {
  *out = 0;
  if (const auto* n = std::get_if<Integer>(&v)) *out = n->number;
  if (const std::string* text = TextOf(v)) return TextToInteger(*text, out);
  return std::holds_alternative<bool>(v) ? Coercion::kWrongType : Coercion::kDone;
}

// Converts an operand for bit operations and comparisons, which accept booleans.
Coercion AsLong(const Value& v, int64_t* out) {
  *out = 0;
  if (const auto* b = std::get_if<bool>(&v)) *out = *b ? 1 : 0;
  if (const auto* n = std::get_if<Integer>(&v)) *out = static_cast<int64_t>(n->number);
  if (const auto* f = std::get_if<Single>(&v)) *out = SaturatingCast(f->wide);
  if (const auto* d = std::get_if<double>(&v)) *out = SaturatingCast(*d);
  if (const std::string* text = TextOf(v)) {
    __int128 wide = 0;
    Coercion done = TextToInteger(*text, &wide);
    *out = static_cast<int64_t>(wide);
    return done;
  }
  return Coercion::kDone;
}

// Returns the value as a text. The result refers to the text of the value, or to `*digits`, which
// must be empty.
std::string_view AsText(const Value& v, std::string* digits) {
  if (const std::string* text = TextOf(v)) return *text;
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* n = std::get_if<Integer>(&v)) {
    for (__int128 rest = n->number; rest != 0 || digits->empty(); rest /= 10)
      digits->insert(digits->begin(),
                     static_cast<char>('0' + std::abs(static_cast<int>(rest % 10))));
    if (n->number < 0) digits->insert(digits->begin(), '-');
  }
  if (const auto* f = std::get_if<Single>(&v)) AppendJavaFloat(digits, f->value);
  if (const auto* d = std::get_if<double>(&v)) AppendJavaDouble(digits, *d);
  return *digits;
}

Width WidthOf(const Value& v) {
  const auto* n = std::get_if<Integer>(&v);
  return n != nullptr ? n->width : Width::kInt;
}

template <typename T>
bool Fits(__int128 n) {
  return n >= std::numeric_limits<T>::min() && n <= std::numeric_limits<T>::max();
}

Integer Narrow(const Value& left, const Value& right, __int128 n) {
  Width least = std::max(WidthOf(left), WidthOf(right));
  if (least == Width::kInt && Fits<int32_t>(n)) return {n, Width::kInt};
  if (least != Width::kBig && Fits<int64_t>(n)) return {n, Width::kLong};
  return {n, Width::kBig};
}

std::string_view SymbolOf(BinaryOperator op) {
  constexpr std::string_view kSymbols[] = {
      "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"};
  return kSymbols[static_cast<size_t>(op)];
}

Status Misfit(BinaryOperator op, const Value& left, const Value& right) {
  return Status::InvalidArgument("The operator '" + std::string(SymbolOf(op)) +
                                 "' cannot be applied to " + std::string(TypeName(left)) + " and " +
                                 std::string(TypeName(right)));
}

// Returns false if the result exceeds 128 bits. The divisor must not be zero.
bool IntegerArithmetic(BinaryOperator op, __int128 l, __int128 r, __int128* out) {
  switch (op) {
    case BinaryOperator::kAdd:
      return !__builtin_add_overflow(l, r, out);
    case BinaryOperator::kSubtract:
      return !__builtin_sub_overflow(l, r, out);
    case BinaryOperator::kMultiply:
      return !__builtin_mul_overflow(l, r, out);
    case BinaryOperator::kDivide:
      if (r == -1) return !__builtin_sub_overflow(static_cast<__int128>(0), l, out);
      *out = l / r;
      return true;
    default:
      // Like BigInteger.mod: the result is never negative.
      *out = l % r;
      if (*out < 0) *out += r;
      return true;
  }
}

Status Arithmetic(BinaryOperator op, const Value& left, const Value& right, TextMemory* texts,
                  Value* out) {
  bool divides = op == BinaryOperator::kDivide || op == BinaryOperator::kModulo;
  if (WantsDouble(left) || WantsDouble(right)) {
    double l = 0, r = 0;
    if (AsDouble(left, &l) == Coercion::kDone && AsDouble(right, &r) == Coercion::kDone) {
      *out = ApplyArithmetic(op, l, r);
      return {};
    }
  } else {
    __int128 l = 0, r = 0;
    Coercion done = AsInteger(left, &l);
    if (done == Coercion::kDone) done = AsInteger(right, &r);
    // A negative modulus has the same result as zero.
    bool zero = r == 0 || (op == BinaryOperator::kModulo && r < 0);
    if (divides && (done == Coercion::kWrongType || (done == Coercion::kDone && zero))) {
      *out = 0.0;
      return {};
    }
    if (done == Coercion::kWrongType) return Misfit(op, left, right);
    if (done == Coercion::kDone) {
      __int128 n = 0;
      if (!IntegerArithmetic(op, l, r, &n)) {
        return Status::InvalidArgument("An integer of the expression outgrows 128 bits");
      }
      *out = Narrow(left, right, n);
      return {};
    }
  }
  // An operand is a text that is not a number. Only addition is defined for such texts.
  if (op != BinaryOperator::kAdd) return Misfit(op, left, right);
  std::string left_digits, right_digits;
  return texts->Concatenate(AsText(left, &left_digits), AsText(right, &right_digits), out);
}

template <typename T>
int Order(const T& l, const T& r) {
  return l < r ? -1 : r < l ? 1 : 0;
}

int OrderDoubles(double l, double r) {
  if (std::isnan(l)) return std::isnan(r) ? 0 : -1;
  return std::isnan(r) ? 1 : Order(l, r);
}

bool Holds(BinaryOperator op, int order) {
  switch (op) {
    case BinaryOperator::kEqual:
      return order == 0;
    case BinaryOperator::kNotEqual:
      return order != 0;
    case BinaryOperator::kLess:
      return order < 0;
    case BinaryOperator::kLessOrEqual:
      return order <= 0;
    case BinaryOperator::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

Status Compare(BinaryOperator op, const Value& left, const Value& right, Value* out) {
  bool equality = op == BinaryOperator::kEqual || op == BinaryOperator::kNotEqual;
  bool left_null = std::holds_alternative<std::monostate>(left);
  bool right_null = std::holds_alternative<std::monostate>(right);
  if (left_null || right_null) {
    bool same = left_null && right_null;
    bool strict = op == BinaryOperator::kLess || op == BinaryOperator::kGreater;
    *out = op == BinaryOperator::kNotEqual ? !same : same && !strict;
    return {};
  }
  auto either = [&](auto holds) { return holds(left) || holds(right); };
  int order = 0;
  bool done = true;
  if (equality && either([](const Value& v) { return std::holds_alternative<bool>(v); })) {
    order = Order(IsTrue(left), IsTrue(right));
  } else if (either(IsFloating)) {
    double l = 0, r = 0;
    done = AsDouble(left, &l) == Coercion::kDone && AsDouble(right, &r) == Coercion::kDone;
    order = OrderDoubles(l, r);
  } else if (either([](const Value& v) { return std::holds_alternative<Integer>(v); })) {
    if (WidthOf(left) == Width::kBig || WidthOf(right) == Width::kBig) {
      __int128 l = 0, r = 0;
      done = AsInteger(left, &l) == Coercion::kDone && AsInteger(right, &r) == Coercion::kDone;
      order = Order(l, r);
    } else {
      int64_t l = 0, r = 0;
      done = AsLong(left, &l) == Coercion::kDone && AsLong(right, &r) == Coercion::kDone;
      order = Order(l, r);
    }
  } else if (either([](const Value& v) { return TextOf(v) != nullptr; })) {
    std::string left_digits, right_digits;
    order = AsText(left, &left_digits).compare(AsText(right, &right_digits));
  } else {
    order = Order(IsTrue(left), IsTrue(right));
  }
  if (!done) return Misfit(op, left, right);
  *out = Holds(op, order);
  return {};
}

Status Bits(BinaryOperator op, const Value& left, const Value& right, Value* out) {
  int64_t l = 0, r = 0;
  if (AsLong(left, &l) != Coercion::kDone || AsLong(right, &r) != Coercion::kDone) {
    return Misfit(op, left, right);
  }
  int64_t bits = op == BinaryOperator::kBitAnd  ? (l & r)
                 : op == BinaryOperator::kBitOr ? (l | r)
                                                : (l ^ r);
  *out = Integer{bits, Width::kLong};
  return {};
}

}  // namespace

Status TextMemory::Concatenate(std::string_view left, std::string_view right, Value* out) {
  const size_t size = left.size() + right.size();
  if (size > kTextBytesMax) {
    return Status::InvalidArgument("The expression builds a text longer than " +
                                   std::to_string(kTextBytesMax) + " bytes");
  }
  if (bytes_ + size > kKeptTextBytesMax) {
    return Status::InvalidArgument("The expression keeps more than " +
                                   std::to_string(kKeptTextBytesMax) +
                                   " bytes of text at the same time");
  }
  auto text = std::make_unique<std::string>();
  text->reserve(size);
  text->append(left).append(right);
  bytes_ += size;
  *out = SharedText(text.release(), [this, size](const std::string* unused) {
    bytes_ -= size;
    delete unused;
  });
  return {};
}

Single::Single(float v) : value(v), wide(v) {
  std::string text;
  AppendJavaFloat(&text, v);
  double parsed = 0;
  if (ParseJavaDouble(text, &parsed)) wide = parsed;
}

double ApplyArithmetic(BinaryOperator op, double left, double right) {
  switch (op) {
    case BinaryOperator::kAdd:
      return left + right;
    case BinaryOperator::kSubtract:
      return left - right;
    case BinaryOperator::kMultiply:
      return left * right;
    case BinaryOperator::kDivide:
      return right == 0 ? 0.0 : left / right;
    default:
      return right == 0 ? 0.0 : std::fmod(left, right);
  }
}

bool ApplyComparison(BinaryOperator op, double left, double right) {
  return Holds(op, OrderDoubles(left, right));
}

Status Apply(BinaryOperator op, const Value& left, const Value& right, TextMemory* texts,
             Value* out) {
  if (IsArithmetic(op)) return Arithmetic(op, left, right, texts, out);
  if (IsComparison(op)) return Compare(op, left, right, out);
  return Bits(op, left, right, out);
}

Status Negate(const Value& operand, Value* out) {
  if (const auto* d = std::get_if<double>(&operand)) {
    *out = -*d;
  } else if (const auto* f = std::get_if<Single>(&operand)) {
    *out = Single(-f->value);
  } else if (const auto* b = std::get_if<bool>(&operand)) {
    *out = !*b;
  } else if (const auto* n = std::get_if<Integer>(&operand)) {
    __int128 negated = 0;
    Integer zero{0, n->width};
    if (!IntegerArithmetic(BinaryOperator::kSubtract, 0, n->number, &negated)) {
      return Status::InvalidArgument("An integer of the expression outgrows 128 bits");
    }
    *out = Narrow(zero, zero, negated);
  } else {
    return Status::InvalidArgument("The operator '-' cannot be applied to " +
                                   std::string(TypeName(operand)));
  }
  return {};
}

Status Complement(const Value& operand, Value* out) {
  int64_t n = 0;
  if (AsLong(operand, &n) != Coercion::kDone) {
    return Status::InvalidArgument("The operator '~' cannot be applied to " +
                                   std::string(TypeName(operand)));
  }
  *out = Integer{~n, Width::kLong};
  return {};
}

bool IsTrue(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const std::string* text = TextOf(value)) {
    std::string lower = *text;
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return lower == "true";
  }
  double d = 0;
  return AsDouble(value, &d) == Coercion::kDone && d != 0 && !std::isnan(d);
}

std::string_view TypeName(const Value& value) {
  constexpr std::string_view kNames[] = {"null",    "a boolean", "an integer",
                                         "a float", "a double",  "a text"};
  return kNames[value.index()];
}

}  // namespace hg::query
