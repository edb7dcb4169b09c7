#include "http/wire/base64.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace hg::http {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string ToBase64(ByteView bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t v = 0;
    for (size_t k = 0; k < 3; ++k) v = v << 8 | (k < n ? ByteAt(bytes, i + k) : 0);
    for (size_t k = 0; k < 4; ++k)
      out.push_back(k <= n ? kBase64Digits[v >> (18 - 6 * k) & 63] : '=');
  }
  return out;
}

Bytes FromBase64(std::string_view text) {
  constexpr uint8_t kPadding = 127;
  Bytes out;
  uint8_t four[4];
  size_t count = 0;
  for (const char c : text) {
    const size_t digit = kBase64Digits.find(c);
    if (digit == std::string_view::npos && c != '=') continue;
    four[count++] = c == '=' ? kPadding : static_cast<uint8_t>(digit);
    if (count < std::size(four)) continue;
    count = 0;
    out.push_back(static_cast<char>(four[0] << 2 | four[1] >> 4));
    if (four[2] != kPadding) out.push_back(static_cast<char>(four[1] << 4 | four[2] >> 2));
    if (four[3] != kPadding) out.push_back(static_cast<char>(four[2] << 6 | four[3]));
  }
  return out;
}

}  // namespace hg::http
