#include "storage/model/utf8.h"

#include <doctest/doctest.h>

namespace hg {
namespace {

TEST_CASE("a shortened text is never cut within a character") {
  CHECK(Shortened("abc", 3) == "abc");
  CHECK(Shortened("abcd", 3) == "abc…");
  const std::string text = "aé€\U0001F600z";  // 1, 2, 3, 4 and 1 bytes
  for (size_t max = 0; max <= text.size(); ++max) {
    CAPTURE(max);
    const std::string shown = Shortened(text, max);
    CHECK(IsUtf8(shown));
    CHECK(shown.size() <= max + std::string("…").size());
  }
  CHECK(Shortened(text, 5) == "aé…");
  CHECK(Shortened(text, 6) == "aé€…");
}

}  // namespace
}  // namespace hg
