#pragma once
// Prints stored objects in the notation of the examples in the FORMAT.md files.

#include <algorithm>
#include <string>

#include "storage/model/number_text.h"
#include "storage/model/point.h"
#include "tests/support/hex.h"

namespace hg {

/// Returns text in quotes, and other bytes in hexadecimal digits.
inline std::string Shown(ByteView bytes) {
  const bool text = std::all_of(bytes.begin(), bytes.end(),
                                [](char c) { return c > ' ' && c <= '~' && c != '\''; });
  return text ? "'" + Bytes(bytes) + "'" : ToHex(bytes);
}

/// Returns "i8 42": integer or float, number of bits, value.
inline std::string Shown(const PointValue& value) {
  return (value.is_float() ? "f" : "i") + std::to_string(8 * ValueWidth(value.flags)) + " " +
         (value.is_float() ? JavaDouble(value.as_double()) : std::to_string(value.as_int()));
}

}  // namespace hg
