#pragma once
// Doubles that are printed without an exponent, as most are: the shortest digits in a third of the
// steps that std::to_chars takes for any number.

#include <cstddef>

namespace hg {

inline constexpr size_t kPlainDoubleBytesMax = 32;

/// Writes Double.toString of a number whose magnitude is in [1e-3, 1e7): the digits are the
/// shortest that read back to it, of these the nearest. Takes at most kPlainDoubleBytesMax bytes,
/// and tells where they end; nullptr: another number, and nothing was written.
char* PutPlainDouble(double v, char* to);

}  // namespace hg
