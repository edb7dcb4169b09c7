#pragma once
// The decimal digits that JVMs before version 19 print for floating point numbers (Double.toString,
// Float.toString). OpenTSDB prints these digits, for example in names of histogram buckets and in
// /api/query/last. JDK-4511638 describes how they differ from the shortest digits.

namespace hg {

/// The number 0.d1d2d3… × 10^point, with at least one digit and no trailing zeros.
struct Decimal {
  char digits[32];
  int count = 0;
  int point = 0;
};

/// Returns the digits of a finite number > 0. In most cases these are the shortest digits that are
/// parsed to the same number. Java prints more digits for:
/// - powers of two, because Java takes the neighbours to be twice as near as they are
/// - numbers whose shortest digits lie halfway to a neighbour
/// - integers with more bits than the type holds; Java prints them exactly except for the digits
///   below their precision
///
/// One defect of Java is not reproduced: for floats from 2^83 and doubles from 2^84 to 2^85, an
/// overflow makes Java round the last of 8 or 17 digits down.
Decimal JavaDigits(double magnitude);
Decimal JavaDigits(float magnitude);

}  // namespace hg
