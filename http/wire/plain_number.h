#pragma once
// The numbers that nearly every point carries, parsed without a detour: what JSON calls a number,
// short enough to be exact. Everything else (signs, blanks, suffixes, hexadecimal, overflow) is
// left to storage/model/number_text.h, which gives the same result for what is taken here
// (tests/http/wire/put_json_test.cc holds them together).

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "storage/model/number_text.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg::http {

/// 1 … kTimestampMax in plain digits without leading zeros.
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

/// Digits of a whole number below 2^53, whatever they are.
inline constexpr int kExactDigits = 15;
inline constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

inline PointValue FloatingValue(double d, EntryPath path) {
  const auto f = static_cast<float>(d);
  const bool single = path == EntryPath::kTelnet && static_cast<double>(f) == d;
  return single ? PointValue::Float(f) : PointValue::Double(d);
}

/// Some digits as a number, the first one in the lowest byte of `text`; false: another character is
/// among them. `count`: 1 to 8.
inline bool ReadDigits(uint64_t text, size_t count, uint64_t* number) {
  // Zeros in front: then there always are eight, and pairs, fours and eights of them are added up.
  text = text << 8 * (8 - count) | 0x3030303030303030u >> 4 * count >> 4 * count;
  if ((text & 0xF0F0F0F0F0F0F0F0u) != 0x3030303030303030u ||
      ((text + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) != 0x3030303030303030u) {
    return false;
  }
  text = (text & 0x0F0F0F0F0F0F0F0Fu) * (1 + (10 << 8)) >> 8;
  text = (text & 0x00FF00FF00FF00FFu) * (1 + (100 << 16)) >> 16;
  *number = (text & 0x0000FFFF0000FFFFu) * (1 + (uint64_t{10000} << 32)) >> 32;
  return true;
}

/// 1 to 8 characters, the first one in the lowest byte, zero behind them.
inline uint64_t LoadShort(const char* text, size_t size) {
  if constexpr (std::endian::native == std::endian::little) {
    if (size >= 4) {
      uint32_t first, last;
      std::memcpy(&first, text, 4);
      std::memcpy(&last, text + size - 4, 4);
      return first | uint64_t{last} << 8 * (size - 4);
    }
  }
  uint64_t loaded = 0;
  for (size_t i = size; i-- > 0;) loaded = loaded << 8 | static_cast<uint8_t>(text[i]);
  return loaded;
}

/// ParsePlainValue of 1 to 8 digits, perhaps with a point among them, without a branch for each.
/// False: ParsePlainValue must look at each.
inline bool ParseShortValue(const char* text, size_t size, bool negative, EntryPath path,
                            PointValue* value) {
  uint64_t digits = LoadShort(text, size);
  // The first byte that is a point, as the lowest that is zero then.
  const uint64_t points = digits ^ 0x2E2E2E2E2E2E2E2Eu;
  const uint64_t zeros = (points - 0x0101010101010101u) & ~points & 0x8080808080808080u;
  size_t count = size, integer = size;
  if (zeros != 0) {
    integer = static_cast<size_t>(std::countr_zero(zeros)) / 8;
    count = size - 1;
    if (integer == 0 || integer == count) return false;
    const uint64_t before = (uint64_t{1} << 8 * integer) - 1;
    digits = (digits & before) | (digits >> 8 & ~before);
  }
  uint64_t number = 0;
  if ((text[0] == '0' && integer > 1) || !ReadDigits(digits, count, &number)) return false;
  if (zeros == 0) {
    const auto n = static_cast<int64_t>(number);
    *value = PointValue::Int(negative ? -n : n);
  } else {
    const double quotient = static_cast<double>(number) / kPowersOfTen[count - integer];
    *value = FloatingValue(negative ? -quotient : quotient, path);
  }
  return true;
}

/// A JSON number whose integer form has at most 18 digits, or whose floating form is finite and not
/// denormal. Not for EntryPath::kImport.
inline bool ParsePlainValue(std::string_view text, EntryPath path, PointValue* value) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  const auto left = static_cast<size_t>(end - p);
  if (left - 1 < 8 && ParseShortValue(p, left, negative, path, value)) return true;
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
  // Behind the integer part: a fraction and an exponent as JSON has them. from_chars alone would
  // take "1." and "inf".
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
      // Both are exact as doubles, so their quotient is the nearest double.
      const double quotient = static_cast<double>(mantissa) / kPowersOfTen[p - fraction];
      *value = FloatingValue(negative ? -quotient : quotient, path);
      return true;
    }
  } else if (p == end) {
    return false;  // an integer of 19 digits or more
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
