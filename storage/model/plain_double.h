#pragma once
// A fast printer for doubles that need no exponent, which is the common case. It finds the shortest
// digits with fewer steps than std::to_chars.

#include <cstddef>

namespace hg {

inline constexpr size_t kPlainDoubleBytesMax = 32;

/// Writes a number with a magnitude in [1e-3, 1e7) in the form of Java's Double.toString. The
/// digits are the shortest that are parsed to the same number, and of these the nearest. Writes at
/// most kPlainDoubleBytesMax bytes and returns their end. For other numbers, writes nothing and
/// returns nullptr.
char* PutPlainDouble(double v, char* to);

}  // namespace hg
