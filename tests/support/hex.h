#pragma once
// Converts hexadecimal strings in tests to bytes.

#include <doctest/doctest.h>

#include <string>

#include "storage/base/bytes.h"

namespace hg {

/// Decodes hexadecimal digits. Any other character fails the test.
inline Bytes Hex(ByteView digits) {
  Bytes bytes;
  REQUIRE_MESSAGE(FromHex(digits, &bytes), std::string(digits));
  return bytes;
}

}  // namespace hg
