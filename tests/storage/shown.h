#pragma once
// Prints stored objects in the notation of the examples in the FORMAT.md pages.

#include <algorithm>
#include <string>

#include "storage/model/number_text.h"
#include "storage/model/point.h"
#include "tests/support/hex.h"

namespace hg {

/// Returns bytes as text in single quotes if all of them are printable ASCII characters; otherwise
/// returns them in hexadecimal.
inline std::string Shown(ByteView bytes) {
  const bool text = std::all_of(bytes.begin(), bytes.end(),
                                [](char c) { return c > ' ' && c <= '~' && c != '\''; });
  return text ? "'" + Bytes(bytes) + "'" : ToHex(bytes);
}

/// Returns a value as text such as "i8 42": "i" for an integer or "f" for a float, the number of
/// bits, and the value.
inline std::string Shown(const PointValue& value) {
  return (value.is_float() ? "f" : "i") + std::to_string(8 * ValueWidth(value.flags)) + " " +
         (value.is_float() ? JavaDouble(value.as_double()) : std::to_string(value.as_int()));
}

}  // namespace hg
