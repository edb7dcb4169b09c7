#include "storage/base/short_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace hg {
namespace {

/// Returns a copy without spare bytes behind the text, so that a sanitizer finds reads beyond it.
std::unique_ptr<char[]> Copy(const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  return copy;
}

}  // namespace

TEST_CASE("the first occurrence of a byte is found at any position") {
  for (size_t size = 0; size < 70; ++size) {
    for (size_t at = 0; at <= size; ++at) {
      std::string text(size, 'x');
      if (at < size) text[at] = '\n';
      if (at + 1 < size) text[size - 1] = '\n';
      const auto bytes = Copy(text);
      const char* const end = bytes.get() + size;
      CHECK(FindByte(bytes.get(), end, '\n') == bytes.get() + at);
      CHECK(FindBlank(bytes.get(), end) == bytes.get() + at);
    }
  }
}

TEST_CASE("blanks and control characters are found, and no other bytes") {
  for (int c = 0; c < 256; ++c) {
    for (const size_t before : {0, 20}) {
      const std::string text = std::string(before, 'x') + static_cast<char>(c) + "y";
      const char* const end = text.data() + text.size();
      CHECK(FindBlank(text.data(), end) == (c <= ' ' ? text.data() + before : end));
    }
  }
}

TEST_CASE("bytes are equal if none differs") {
  for (size_t size = 0; size < 70; ++size) {
    const std::string text(size, 'x');
    const auto bytes = Copy(text);
    CHECK(SameBytes(bytes.get(), Copy(text).get(), size));
    for (size_t at = 0; at < size; ++at) {
      const auto other = Copy(text);
      other[at] = static_cast<char>(0x80);
      CHECK_FALSE(SameBytes(bytes.get(), other.get(), size));
    }
  }
}

}  // namespace hg
