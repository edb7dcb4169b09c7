#include "http/wire/base64.h"

#include <doctest/doctest.h>

#include <utility>

namespace hg::http {

TEST_CASE("base64 encoding and decoding are inverse") {
  const std::pair<Bytes, const char*> cases[] = {{"", ""},
                                                 {"f", "Zg=="},
                                                 {"fo", "Zm8="},
                                                 {"foo", "Zm9v"},
                                                 {"foob", "Zm9vYg=="},
                                                 {"fooba", "Zm9vYmE="},
                                                 {"foobar", "Zm9vYmFy"},
                                                 {"\xFB\xFF\xFE", "+//+"}};
  for (const auto& [bytes, text] : cases) {
    CHECK(ToBase64(bytes) == text);
    CHECK(FromBase64(text) == bytes);
  }
}

TEST_CASE("characters that are not base64 digits are skipped, and an incomplete group is dropped") {
  CHECK(FromBase64("Zm\n9v, Ym") == "foo");
}

}  // namespace hg::http
