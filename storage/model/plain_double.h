#pragma once
// A fast function that prints doubles which need no exponent, the usual case. PutPlainDouble finds
// the shortest digits in fewer steps than std::to_chars.

#include <cstddef>

namespace hg {

inline constexpr size_t kPlainDoubleBytesMax = 32;

/// Writes a number with a magnitude in [1e-3, 1e7) in the form of Java's Double.toString. The
/// digits are the shortest ones that are parsed to the same number; if there are several, the ones
/// nearest to the number. Writes at most kPlainDoubleBytesMax bytes and returns their end. For
/// other numbers, writes nothing and returns nullptr.
char* PutPlainDouble(double v, char* to);

}  // namespace hg
