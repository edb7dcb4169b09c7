#include "storage/base/crc32c.h"

#include <doctest/doctest.h>

#include <random>

namespace hg {
namespace {

Bytes Ascending(int first, int step, int n) {
  Bytes out;
  for (int i = 0; i < n; ++i) out.push_back(static_cast<char>(first + step * i));
  return out;
}

TEST_CASE("CRC32C of the vectors of RFC 3720 B.4, by instruction and by table") {
  Bytes scsi_read;
  REQUIRE(
      FromHex("01c00000000000000000000000000000"
              "14000000000004000000001400000018"
              "28000000000000000200000000000000",
              &scsi_read));
  const struct {
    Bytes bytes;
    uint32_t checksum;
  } vectors[] = {
      {Bytes(32, '\x00'), 0x8A9136AA},
      {Bytes(32, '\xFF'), 0x62A8AB43},
      {Ascending(0, 1, 32), 0x46DD794E},
      {Ascending(31, -1, 32), 0x113FDB5C},
      {scsi_read, 0xD9963A56},
      {"123456789", 0xE3069283},
      {"", 0},
  };
  for (const auto& v : vectors) {
    CAPTURE(ToHex(v.bytes));
    CHECK(crc32c::Value(v.bytes) == v.checksum);
    CHECK(crc32c::internal::ExtendByTable(0, v.bytes) == v.checksum);
  }
}

TEST_CASE(
    "a checksum that is extended piece by piece is that of the whole, and both "
    "implementations agree at any length and alignment") {
  std::mt19937_64 random(7);
  Bytes bytes;
  for (int i = 0; i < 600; ++i) bytes.push_back(static_cast<char>(random()));
  for (size_t start = 0; start < 9; ++start) {
    for (size_t length = 0; length < 80; ++length) {
      const ByteView whole = ByteView(bytes).substr(start, length);
      const size_t cut = length == 0 ? 0 : random() % length;
      const uint32_t expected = crc32c::Value(whole);
      CHECK(crc32c::Extend(crc32c::Value(whole.substr(0, cut)), whole.substr(cut)) == expected);
      CHECK(crc32c::internal::ExtendByTable(0, whole) == expected);
    }
  }
}

}  // namespace
}  // namespace hg
