#include "storage/model/java_digits.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace hg {
namespace {

using boost::multiprecision::cpp_int;

template <typename Float>
Decimal ShortestDigits(Float v) {
  char text[40];
  const char* end = std::to_chars(text, text + sizeof(text), v, std::chars_format::scientific).ptr;
  Decimal d;
  const char* p = text;
  for (; p != end && *p != 'e'; ++p) {
    if (*p != '.') d.digits[d.count++] = *p;
  }
  ++p;                 // 'e'
  if (*p == '+') ++p;  // from_chars does not accept a '+'
  int exponent = 0;
  std::from_chars(p, end, exponent);
  d.point = exponent + 1;
  return d;
}

void DropZeros(Decimal* d) {
  while (d->count > 1 && d->digits[d->count - 1] == '0') --d->count;
}

// Returns all digits of an integer below 2^63, rounded to the greatest power of ten that is below a
// quarter of the distance between neighbours.
template <typename Float>
Decimal IntegerDigits(Float v) {
  const int unknown_bits = std::ilogb(v) - std::numeric_limits<Float>::digits - 1;
  const uint64_t precision = uint64_t{1} << std::max(unknown_bits, 0);
  uint64_t unit = 1;
  while (unit <= precision / 10) unit *= 10;
  const uint64_t rounded = (static_cast<uint64_t>(v) + unit / 2) / unit * unit;
  Decimal d;
  d.count = static_cast<int>(std::to_chars(d.digits, std::end(d.digits), rounded).ptr - d.digits);
  d.point = d.count;
  DropZeros(&d);
  return d;
}

void AddOneToLast(Decimal* d) {
  int i = d->count - 1;
  for (; i >= 0 && d->digits[i] == '9'; --i) d->digits[i] = '0';
  if (i >= 0) {
    ++d->digits[i];
    return;
  }
  d->digits[0] = '1';  // rounding 9…9 up gives 10…0, whose trailing zeros are dropped
  ++d->point;
}

// Generates digits one by one (Steele and White) until the remainder is less than half the distance
// to the neighbours. The comparison is strict, so a result halfway between two numbers is never
// taken.
template <typename Float>
Decimal DigitsWithinMargin(Float v) {
  constexpr int kBits = std::numeric_limits<Float>::digits;
  int exponent;  // v = fraction × 2^exponent, fraction in [0.5, 1)
  const Float fraction = std::frexp(v, &exponent);
  const int missing = std::max(0, std::numeric_limits<Float>::min_exponent - exponent);
  const int margin_exponent = exponent - 1 - (kBits - missing) - (fraction == Float(0.5) ? 1 : 0);
  const int value_exponent = exponent - kBits;
  const int shift = std::max({0, -margin_exponent, -value_exponent});

  cpp_int left = static_cast<uint64_t>(std::ldexp(fraction, kBits));
  cpp_int margin = 1;
  left <<= value_exponent + shift;
  margin <<= margin_exponent + shift;
  cpp_int unit = cpp_int(1) << shift;

  Decimal d;
  d.point = ShortestDigits(v).point;
  const cpp_int scale = boost::multiprecision::pow(cpp_int(10), std::abs(d.point - 1));
  if (d.point > 1) unit *= scale;
  if (d.point < 1) left *= scale, margin *= scale;
  // The number may lie below the power of ten of its shortest digits, too far to be rounded up to
  // it. Then the first digit would be 0, so the remainder is scaled by ten.
  if (left < unit && left + margin <= unit) {
    left *= 10;
    margin *= 10;
    --d.point;
  }
  // With an exponent, Java prints at least two digits.
  const int count_min = d.point < -2 || d.point > 8 ? 2 : 1;
  for (;;) {
    const cpp_int digit = left / unit;
    left -= digit * unit;
    d.digits[d.count++] = static_cast<char>('0' + static_cast<int>(digit));
    const bool enough = left<margin, enough_above = left + margin> unit;
    if (d.count >= count_min && (enough || enough_above)) {
      const cpp_int twice = 2 * left;
      const bool odd = (d.digits[d.count - 1] - '0') % 2 == 1;
      if (enough_above && (!enough || twice > unit || (twice == unit && odd))) AddOneToLast(&d);
      DropZeros(&d);
      return d;
    }
    left *= 10;
    margin *= 10;
  }
}

template <typename Float>
Decimal Digits(Float v) {
  const Float bits_full = std::ldexp(Float(1), std::numeric_limits<Float>::digits);
  const bool beyond_long = v >= Float(0x1p63);
  if (v >= bits_full && !beyond_long) return IntegerDigits(v);
  int exponent;
  if (beyond_long || std::fpclassify(v) == FP_SUBNORMAL || std::frexp(v, &exponent) == Float(0.5))
    return DigitsWithinMargin(v);
  return ShortestDigits(v);
}

}  // namespace

Decimal JavaDigits(double magnitude) { return Digits(magnitude); }
Decimal JavaDigits(float magnitude) { return Digits(magnitude); }

}  // namespace hg
