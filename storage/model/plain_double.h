#pragma once
// A fast function that prints doubles without an exponent, which is the usual case. PutPlainDouble
// finds the shortest digits in fewer steps than std::to_chars.

#include <cstddef>

namespace hg {

inline constexpr size_t kPlainDoubleBytesMax = 32;

/// Writes a number with a magnitude in [1e-3, 1e7) as Java's Double.toString does. The digits are
/// the shortest digits that are parsed to the same number. If there are several such digit
/// sequences, the one nearest to the number is written. Writes at most kPlainDoubleBytesMax bytes
/// and returns a pointer to their end. For numbers with other magnitudes, writes nothing and
/// returns nullptr.
char* PutPlainDouble(double v, char* to);

}  // namespace hg
