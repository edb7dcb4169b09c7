#include "http/wire/snappy_block.h"

#include <doctest/doctest.h>

namespace hg::http {

TEST_CASE("a packed block unpacks up to the limit and not above it") {
  std::string out = "before";
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(100000, 'x'), std::string("abc\0def", 7)}) {
    const std::string packed = PackSnappy(text);
    CHECK(packed.size() <= PackedSnappyBytesMax(text.size()));
    REQUIRE(UnpackSnappy(packed, text.size(), &out, nullptr).ok());
    CHECK(out == text);
    if (text.empty()) continue;
    CHECK(UnpackSnappy(packed, text.size() - 1, &out, nullptr).code() ==
          StatusCode::kLimitExceeded);
  }
}

TEST_CASE("a damaged block is refused") {
  std::string out;
  const std::string packed = PackSnappy("hello, hello, hello, hello, hello");
  for (size_t size = 0; size < packed.size(); ++size) {
    CAPTURE(size);
    CHECK(UnpackSnappy(packed.substr(0, size), 1000, &out, nullptr).code() ==
          StatusCode::kInvalidArgument);
  }
  CHECK_FALSE(UnpackSnappy("\xFF\xFF\xFF\xFF\xFF\xFF", 1000, &out, nullptr).ok());
}

TEST_CASE("a block that claims an impossible size allocates no memory") {
  std::string out;
  const std::string claims = std::string("\x80\x80\x80\x10", 4) + std::string(100, 'x');  // 32 MiB
  CHECK(UnpackSnappy(claims, 64 << 20, &out, nullptr).code() == StatusCode::kInvalidArgument);
  CHECK(out.capacity() < 1000);
}

}  // namespace hg::http
