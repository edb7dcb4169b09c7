#pragma once
// Converts hexadecimal strings to bytes, for use in tests.

#include <doctest/doctest.h>

#include <string>

#include "storage/base/bytes.h"

namespace hg {

/// Decodes hexadecimal digits. If the string has any other character, the test fails.
inline Bytes Hex(ByteView digits) {
  Bytes bytes;
  REQUIRE_MESSAGE(FromHex(digits, &bytes), std::string(digits));
  return bytes;
}

}  // namespace hg
