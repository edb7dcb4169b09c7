#pragma once
// A fast printer for doubles that need no exponent, which is the common case. It finds the shortest
// digits with fewer steps than std::to_chars.

#include <cstddef>

namespace hg {

inline constexpr size_t kPlainDoubleBytesMax = 32;

/// Writes Double.toString of a number with a magnitude in [1e-3, 1e7). The digits are the shortest
/// that read back to the number, and of these the nearest. Writes at most kPlainDoubleBytesMax
/// bytes and returns their end. Returns nullptr for other numbers and writes nothing then.
char* PutPlainDouble(double v, char* to);

}  // namespace hg
