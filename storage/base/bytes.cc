#include "storage/base/bytes.h"

#include "storage/base/hex_digit.h"

namespace hg {
namespace {

Bytes Hex(ByteView bytes, const char* digits) {
  Bytes out(bytes.size() * 2, '\0');
  char* to = out.data();
  for (unsigned char c : bytes) {
    *to++ = digits[c >> 4];
    *to++ = digits[c & 15];
  }
  return out;
}

}  // namespace

Bytes ToHex(ByteView bytes) { return Hex(bytes, "0123456789abcdef"); }
Bytes ToHexUpper(ByteView bytes) { return Hex(bytes, "0123456789ABCDEF"); }

bool FromHex(ByteView hex, Bytes* out) {
  if (hex.size() % 2 != 0) return false;
  Bytes bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    int high = HexDigit(hex[i]);
    int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  *out = std::move(bytes);
  return true;
}

}  // namespace hg
