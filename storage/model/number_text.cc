#include "storage/model/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <type_traits>

#include "storage/base/hex_digit.h"
#include "storage/model/java_digits.h"
#include "storage/model/plain_double.h"

namespace hg {
namespace {

constexpr size_t kDigitsMax = 19;  // digits of 9223372036854775807

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsSign(char c) { return c == '+' || c == '-'; }

bool LooksLikeInteger(std::string_view text) {
  for (char c : text) {
    if (c == '.' || c == 'e' || c == 'E') return false;
  }
  return true;
}

template <typename Accept>
size_t TakeWhile(std::string_view* text, Accept accept) {
  size_t n = 0;
  while (n < text->size() && accept((*text)[n])) ++n;
  text->remove_prefix(n);
  return n;
}

bool TakeOne(std::string_view* text, char lower) {
  if (text->empty() || ((*text)[0] | 0x20) != lower) return false;
  text->remove_prefix(1);
  return true;
}

// Removes a mantissa from the front of *text: digits with at most one decimal point and at least
// one digit. Returns false if there is none.
template <typename Accept>
bool TakeMantissa(std::string_view* text, Accept accept) {
  size_t digits = TakeWhile(text, accept);
  if (!text->empty() && (*text)[0] == '.') {
    text->remove_prefix(1);
    digits += TakeWhile(text, accept);
  }
  return digits > 0;
}

bool TakeExponentDigits(std::string_view* text) {
  if (!text->empty() && IsSign((*text)[0])) text->remove_prefix(1);
  return TakeWhile(text, IsDigit) > 0;
}

// A number with checked syntax: its sign, and the digits in the form that from_chars and strtod
// accept.
struct FloatText {
  bool negative = false;
  bool hexadecimal = false;  // then `digits` excludes the 0x
  std::string_view digits;   // mantissa and exponent, without sign and suffix
};

bool ScanFloat(std::string_view text, FloatText* out) {
  text = JavaTrim(text);
  if (!text.empty() && IsSign(text[0])) {
    out->negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::string_view rest = text;
  out->hexadecimal = text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == 'x';
  if (out->hexadecimal) {
    text.remove_prefix(2);
    rest = text;
    if (!TakeMantissa(&rest, IsHexDigit) || !TakeOne(&rest, 'p') || !TakeExponentDigits(&rest))
      return false;
  } else {
    if (!TakeMantissa(&rest, IsDigit)) return false;
    if (TakeOne(&rest, 'e') && !TakeExponentDigits(&rest)) return false;
  }
  out->digits = text.substr(0, text.size() - rest.size());
  if (!TakeOne(&rest, 'f')) TakeOne(&rest, 'd');
  return rest.empty();
}

template <typename Float>
Float Strto(const char* text) {
  if constexpr (std::is_same_v<Float, float>) return std::strtof(text, nullptr);
  return static_cast<Float>(std::strtod(text, nullptr));
}

template <typename Float>
Float ReadDigits(const FloatText& text) {
  Float v = 0;
  const auto format = text.hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, code] =
      std::from_chars(text.digits.data(), text.digits.data() + text.digits.size(), v, format);
  if (code != std::errc()) {  // too large or too small: only strtod tells which
    const std::string copy = (text.hexadecimal ? "0x" : "") + std::string(text.digits);
    v = Strto<Float>(copy.c_str());
  }
  return text.negative ? -v : v;
}

template <typename Float>
bool ParseFloating(std::string_view text, Float* out) {
  // from_chars reads nearly every text. The slow path handles Java's special syntax. The check of
  // the first character excludes "inf" and "nan".
  const size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
  if (first < text.size() && IsDigit(text[first])) {
    Float v;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (code == std::errc() && end == text.data() + text.size()) {
      *out = v;
      return true;
    }
  }
  FloatText scanned;
  if (!ScanFloat(text, &scanned)) return false;
  *out = ReadDigits<Float>(scanned);
  return true;
}

bool Fail(NumberFault fault, std::string message, NumberError* error) {
  error->fault = fault;
  error->message = std::move(message);
  return false;
}

/// Returns whether the leading digits contain two decimal points. Java reports this before other
/// errors.
bool HasTwoPoints(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  return std::count(digits.begin(), digits.end(), '.') > 1;
}

bool FailNotANumber(std::string_view text, NumberError* error) {
  if (HasTwoPoints(JavaTrim(text))) return Fail(NumberFault::kNotANumber, "multiple points", error);
  return Fail(NumberFault::kNotANumber, "For input string: \"" + std::string(JavaTrim(text)) + "\"",
              error);
}

bool FailNotFinite(bool negative, NumberError* error) {
  return Fail(NumberFault::kNotFinite, negative ? "-Infinity" : "Infinity", error);
}

// Appends the digits at positions [from, to), counted from the first digit. Positions outside of
// the known digits are zeros.
void AppendDigits(std::string* out, const Decimal& d, int from, int to) {
  for (int i = from; i < to; ++i) out->push_back(i >= 0 && i < d.count ? d.digits[i] : '0');
}

// Appends NaN, infinities and zero, or only the sign. Returns true if the number is complete.
template <typename Float>
bool AppendSpecial(std::string* out, Float v, const char* zero) {
  if (std::isnan(v)) {
    *out += "NaN";
    return true;
  }
  if (std::signbit(v)) out->push_back('-');
  if (std::isinf(v)) {
    *out += "Infinity";
    return true;
  }
  if (v == 0) {
    *out += zero;
    return true;
  }
  return false;
}

template <typename Float>
void AppendJava(std::string* out, Float v) {
  if (AppendSpecial(out, v, "0.0")) return;
  // In the usual range, to_chars writes the final layout directly.
  const Float magnitude = std::abs(v);
  if (magnitude >= Float(1e-3) && magnitude < Float(1e7)) {
    // Writes in place, because copying bytes just after they were written one by one would stall.
    constexpr size_t kBytesMax = 48;
    const size_t at = out->size();
    out->resize(at + kBytesMax);
    char* const text = out->data() + at;
    const bool whole = magnitude == std::trunc(magnitude);
    char* end =
        whole ? std::to_chars(text, text + kBytesMax, static_cast<int32_t>(magnitude)).ptr
              : std::to_chars(text, text + kBytesMax, magnitude, std::chars_format::fixed).ptr;
    if (whole) {
      *end++ = '.';
      *end++ = '0';
    }
    out->resize(static_cast<size_t>(end - out->data()));
    return;
  }
  const Decimal d = JavaDigits(std::abs(v));
  if (d.point >= -2 && d.point <= 7) {  // 10^-3 ≤ |v| < 10^7
    if (d.point <= 0) {
      *out += "0.";
      AppendDigits(out, d, d.point, d.count);
    } else {
      AppendDigits(out, d, 0, d.point);
      out->push_back('.');
      AppendDigits(out, d, d.point, std::max(d.count, d.point + 1));
    }
    return;
  }
  out->push_back(d.digits[0]);
  out->push_back('.');
  AppendDigits(out, d, 1, std::max(d.count, 2));
  out->push_back('E');
  *out += std::to_string(d.point - 1);
}

// Rounds half up to `decimals` digits after the decimal point.
void RoundHalfUp(Decimal* d, int decimals) {
  const int keep = d->point + decimals;
  if (keep >= d->count) return;
  if (keep < 0) {
    d->count = 0;
    return;
  }
  const bool up = d->digits[keep] >= '5';
  d->count = keep;
  if (!up) return;
  int i = keep - 1;
  for (; i >= 0 && d->digits[i] == '9'; --i) d->digits[i] = '0';
  if (i >= 0) {
    ++d->digits[i];
    return;
  }
  // 9…9 became 10…0, so there is one more digit in front.
  for (int k = d->count; k > 0; --k) d->digits[k] = d->digits[k - 1];
  d->digits[0] = '1';
  ++d->count;
  ++d->point;
}

}  // namespace

std::string_view JavaTrim(std::string_view text) {
  const auto blank = [](char c) { return static_cast<uint8_t>(c) <= 0x20; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int32_t> ParseInt32(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  int32_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return {};
  return value;
}

bool ParseLong(std::string_view text, int64_t* out, NumberError* error) {
  if (text.empty()) return Fail(NumberFault::kEmpty, "Empty string", error);
  const bool sign = IsSign(text[0]);
  const std::string_view digits = text.substr(sign ? 1 : 0);
  if (digits.empty())
    return Fail(NumberFault::kSignOnly, "Just a sign, no value: " + std::string(text), error);
  if (digits.size() > kDigitsMax)
    return Fail(NumberFault::kTooLong, "Value too long: " + std::string(text), error);
  uint64_t magnitude = 0;
  for (char c : digits) {
    if (!IsDigit(c)) {
      return Fail(NumberFault::kIllegalCharacter,
                  std::string("Invalid character '") + c + "' in " + std::string(text), error);
    }
    magnitude = magnitude * 10 + static_cast<uint64_t>(c - '0');
  }
  const bool negative = text[0] == '-';
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (magnitude > kMax + (negative ? 1 : 0)) {
    return Fail(NumberFault::kOverflow, "Overflow in " + std::string(text), error);
  }
  *out = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool ParseTelnetTime(std::string_view text, int64_t* out, NumberError* error) {
  if (text.find('.') == std::string_view::npos) return ParseLong(text, out, error);
  std::string without_points(text);
  std::erase(without_points, '.');
  return ParseLong(without_points, out, error);
}

bool ParseJavaDouble(std::string_view text, double* out) { return ParseFloating(text, out); }
bool ParseJavaFloat(std::string_view text, float* out) { return ParseFloating(text, out); }

bool ParseValue(std::string_view text, EntryPath path, PointValue* value, NumberError* error) {
  if (LooksLikeInteger(text)) {
    int64_t v;
    if (!ParseLong(text, &v, error)) return false;
    *value = PointValue::Int(v);
    return true;
  }
  if (path == EntryPath::kImport) {
    float v;
    if (!ParseFloating(text, &v)) return FailNotANumber(text, error);
    if (!std::isfinite(v)) return FailNotFinite(v < 0, error);
    *value = PointValue::Float(v);
    return true;
  }
  double v;
  if (!ParseFloating(text, &v)) return FailNotANumber(text, error);
  if (!std::isfinite(v)) return FailNotFinite(v < 0, error);
  *value = FloatingValue(v, path);
  return true;
}

void AppendJavaDouble(std::string* out, double v) {
  // The digits are written in place, as in AppendJava.
  const size_t at = out->size();
  out->resize(at + kPlainDoubleBytesMax);
  const char* const end = PutPlainDouble(v, out->data() + at);
  out->resize(end != nullptr ? static_cast<size_t>(end - out->data()) : at);
  if (end == nullptr) AppendJava(out, v);
}
void AppendJavaFloat(std::string* out, float v) { AppendJava(out, v); }

void AppendFixed6(std::string* out, double v) {
  constexpr int kDecimals = 6;
  if (AppendSpecial(out, v, "0.000000")) return;
  Decimal d = JavaDigits(std::abs(v));
  RoundHalfUp(&d, kDecimals);
  if (d.point <= 0) out->push_back('0');
  AppendDigits(out, d, 0, d.point);
  out->push_back('.');
  AppendDigits(out, d, d.point, d.point + kDecimals);
}

std::string JavaDouble(double v) {
  std::string out;
  AppendJavaDouble(&out, v);
  return out;
}

}  // namespace hg
