#pragma once
// Fast parsers for the numbers that almost all points have. For texts that a fast parser does not
// accept (plus signs, blanks, suffixes, hexadecimal numbers, overflow), callers use
// storage/model/number_text.h. For every text that a fast parser accepts, both parsers return the
// same result (tests/http/wire/put_json_test.cc compares them).

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "storage/model/number_text.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg::http {

/// Parses a time from 1 to kTimestampMax that consists of digits only, without leading zeros.
inline bool ParsePlainTime(std::string_view text, Timestamp* time) {
  if (text.empty() || text.size() > 13 || text[0] == '0') return false;
  int64_t n = 0;
  for (char c : text) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (digit > 9) return false;
    n = n * 10 + digit;
  }
  time->raw = n;
  return n <= kTimestampMax;
}

/// The maximum number of digits of a whole number that is certainly below 2^53. Such a number is
/// exact as a double.
inline constexpr int kExactDigits = 15;
inline constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Parses a JSON number. The number must be an integer with at most 18 digits, or a finite
/// floating-point number that is not denormal. `path` must not be EntryPath::kImport.
inline bool ParsePlainValue(std::string_view text, EntryPath path, PointValue* value) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  const char* const digits = p;
  int64_t n = 0;
  while (p != end && static_cast<unsigned>(*p - '0') <= 9) {
    if (p - digits == 18) break;
    n = n * 10 + (*p++ - '0');
  }
  if (p == digits || (*digits == '0' && p - digits > 1)) return false;
  if (p == end) {
    *value = PointValue::Int(negative ? -n : n);
    return true;
  }
  // The integer part ends here. A fraction and an exponent may follow, as in JSON. from_chars alone
  // would also accept "1." and "inf", which are not JSON.
  uint64_t mantissa = static_cast<uint64_t>(n);
  const char* const integer_end = p;
  while (p != end && static_cast<unsigned>(*p - '0') <= 9) ++p;
  const bool long_integer = p != integer_end;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    while (p != end && static_cast<unsigned>(*p - '0') <= 9)
      mantissa = mantissa * 10 + static_cast<unsigned>(*p++ - '0');
    if (p == fraction) return false;
    if (p == end && !long_integer && p - digits <= kExactDigits + 1) {
      // The digits and the power of ten are both exact as doubles, so their quotient is the double
      // nearest to the number.
      const double quotient = static_cast<double>(mantissa) / kPowersOfTen[p - fraction];
      *value = FloatingValue(negative ? -quotient : quotient, path);
      return true;
    }
  } else if (p == end) {
    return false;  // the number is an integer with 19 digits or more
  }
  if (p != end) {
    if (*p != 'e' && *p != 'E') return false;
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    const char* const exponent = p;
    while (p != end && static_cast<unsigned>(*p - '0') <= 9) ++p;
    if (p == exponent || p != end) return false;
  }
  double d = 0;
  auto [stop, error] = std::from_chars(text.data(), end, d);
  if (error != std::errc() || stop != end || !std::isfinite(d)) return false;
  *value = FloatingValue(d, path);
  return true;
}

}  // namespace hg::http
