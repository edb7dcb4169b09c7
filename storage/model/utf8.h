#pragma once
// Reads and writes UTF-8 text by code points.

#include <cstdint>
#include <string>
#include <string_view>

namespace hg {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// Removes one code point from the front of a text, which must not be empty, and returns it. If the
/// text does not begin with a valid sequence, removes one byte and returns kReplacementCharacter.
/// Surrogates, overlong forms and code points beyond U+10FFFF are invalid. Sets `*valid` to false
/// for invalid bytes; otherwise does not change it.
inline char32_t TakeCodePoint(std::string_view* text, bool* valid) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>((*text)[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    text->remove_prefix(1);
    return first;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t c = first & (0x7Fu >> length);
  bool good = first >= 0xC2 && first <= 0xF4 && text->size() >= length;
  for (size_t i = 1; good && i < length; ++i) {
    good = (byte(i) & 0xC0) == 0x80;
    c = c << 6 | (byte(i) & 0x3F);
  }
  good = good && !(length == 3 && c < 0x800) && !(length == 4 && c < 0x10000) && c <= 0x10FFFF &&
         !(c >= 0xD800 && c <= 0xDFFF);
  if (!good) {
    *valid = false;
    text->remove_prefix(1);
    return kReplacementCharacter;
  }
  text->remove_prefix(length);
  return c;
}

/// Appends the UTF-8 encoding of a code point.
inline void AppendCodePoint(std::string* out, char32_t c) {
  const auto put = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

inline bool IsUtf8(std::string_view text) {
  bool valid = true;
  while (!text.empty() && valid) (void)TakeCodePoint(&text, &valid);
  return valid;
}

/// Replaces every byte that does not begin a valid sequence by U+FFFD, like the UTF-8 decoder of
/// the JVM.
inline void ReplaceInvalidUtf8(std::string* text) {
  if (IsUtf8(*text)) return;
  std::string good;
  bool valid = true;
  for (std::string_view rest = *text; !rest.empty();)
    AppendCodePoint(&good, TakeCodePoint(&rest, &valid));
  *text = std::move(good);
}

}  // namespace hg
