#pragma once
// The decimal digits with which JVMs before 19 print floating point numbers (Double.toString,
// Float.toString). Texts that OpenTSDB makes of numbers, such as names of histogram buckets and
// the values of /api/query/last, have them; JDK-4511638 tells how they differ from the shortest.

namespace hg {

/// 0.d1d2d3… × 10^point. No zeros at the end, but at least one digit.
struct Decimal {
  char digits[32];
  int count = 0;
  int point = 0;
};

/// Of a finite number > 0: mostly the shortest digits that read back to the same number. A few more
/// of a power of two, whose neighbours are taken to be twice as near as they are; where the
/// shortest ones lie halfway to a neighbour; and of integers with more bits than the type holds,
/// which are printed exactly but for the digits below their precision. Not followed: from 2^84 up
/// to 2^85 (of singles from 2^83) an overflow makes Java round the last of 17 (8) digits down.
Decimal JavaDigits(double magnitude);
Decimal JavaDigits(float magnitude);

}  // namespace hg
