#include "storage/base/varint.h"

#include <doctest/doctest.h>

#include <random>

namespace hg {
namespace {

Bytes Encode(uint64_t v) {
  Bytes out;
  AppendVarint(&out, v);
  return out;
}

TEST_CASE("varints have the known bytes") {
  const struct {
    uint64_t value;
    const char* hex;
  } vectors[] = {
      {0, "00"},
      {1, "01"},
      {127, "7f"},
      {128, "8001"},
      {300, "ac02"},
      {16383, "ff7f"},
      {16384, "808001"},
      {UINT32_MAX, "ffffffff0f"},
      {UINT64_MAX, "ffffffffffffffffff01"},
  };
  for (const auto& v : vectors) {
    CHECK(ToHex(Encode(v.value)) == v.hex);
    CHECK(static_cast<size_t>(VarintLength(v.value)) == Encode(v.value).size());
  }
}

TEST_CASE("written numbers are read back, and the following bytes stay") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t v = random() >> (random() % 64);
    const Bytes bytes = Encode(v) + "tail";
    ByteView in = bytes;
    uint64_t read;
    REQUIRE(GetVarint64(&in, &read));
    CHECK(read == v);
    CHECK(in == "tail");
    in = bytes;
    uint32_t narrow;
    CHECK(GetVarint32(&in, &narrow) == (v <= UINT32_MAX));
    if (v > UINT32_MAX) CHECK(in == bytes);
  }
}

TEST_CASE("a truncated or too large number is refused, and nothing is taken") {
  for (const char* hex : {"", "80", "ffffffff", "ffffffffffffffffff02", "80808080808080808080",
                          "ffffffffffffffffffff01"}) {
    Bytes bytes;
    REQUIRE(FromHex(hex, &bytes));
    ByteView in = bytes;
    uint64_t v = 42;
    CHECK_FALSE(GetVarint64(&in, &v));
    CHECK(in.size() == bytes.size());
    CHECK(v == 42);
  }
}

TEST_CASE("zig-zag keeps small numbers small, whatever their sign") {
  CHECK(ZigZag(0) == 0);
  CHECK(ZigZag(-1) == 1);
  CHECK(ZigZag(1) == 2);
  CHECK(ZigZag(-2) == 3);
  CHECK(ZigZag(INT64_MAX) == UINT64_MAX - 1);
  CHECK(ZigZag(INT64_MIN) == UINT64_MAX);
  std::mt19937_64 random(2);
  for (int i = 0; i < 10000; ++i) {
    const auto v = static_cast<int64_t>(random());
    CHECK(UnZigZag(ZigZag(v)) == v);
  }
}

}  // namespace
}  // namespace hg
