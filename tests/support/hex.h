#pragma once
// Bytes as tests write them.

#include <doctest/doctest.h>

#include <string>

#include "storage/base/bytes.h"

namespace hg {

/// The bytes of hexadecimal digits; anything else fails the test.
inline Bytes Hex(ByteView digits) {
  Bytes bytes;
  REQUIRE_MESSAGE(FromHex(digits, &bytes), std::string(digits));
  return bytes;
}

}  // namespace hg
