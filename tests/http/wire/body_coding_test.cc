#include "http/wire/body_coding.h"

#include <doctest/doctest.h>

#include <random>

namespace hg::http {
namespace {

constexpr size_t kMax = 1 << 20;

std::string Packed(ContentCoding coding, std::string_view text) {
  BodyPacker packer(coding);
  std::string packed;
  for (; text.size() > 1000; text.remove_prefix(1000))
    packer.Pack(text.substr(0, 1000), false, &packed);
  packer.Pack(text, true, &packed);
  return packed;
}

Status Unpacked(ContentCoding coding, std::string_view packed, std::string* out,
                size_t max = kMax) {
  return UnpackBody(coding, packed, max, 64, out, nullptr);
}

}  // namespace

TEST_CASE("a body packed in pieces unpacks to the same bytes") {
  std::mt19937 random(7);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{300000}}) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 4);
    for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
      std::string out;
      REQUIRE(Unpacked(coding, Packed(coding, text), &out).ok());
      CHECK(out == text);
      CHECK(out.capacity() >= out.size() + 64);
    }
  }
  std::string out;
  REQUIRE(Unpacked(ContentCoding::kGzip, "", &out).ok());
  CHECK(out.empty());
  CHECK(out.capacity() >= 64);
}

TEST_CASE("consecutive gzip members form one body") {
  std::string out;
  REQUIRE(Unpacked(ContentCoding::kGzip,
                   Packed(ContentCoding::kGzip, "ab") + Packed(ContentCoding::kGzip, "cd"), &out)
              .ok());
  CHECK(out == "abcd");
}

TEST_CASE("damage is detected") {
  std::string out;
  std::string packed = Packed(ContentCoding::kGzip, std::string(5000, 'x'));
  CHECK(Unpacked(ContentCoding::kGzip, packed.substr(0, packed.size() - 9), &out).code() ==
        StatusCode::kInvalidArgument);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  CHECK(Unpacked(ContentCoding::kGzip, packed, &out).code() == StatusCode::kInvalidArgument);
  CHECK(Unpacked(ContentCoding::kDeflate, "no deflate", &out).code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("a body that unpacks beyond the limit is refused before it fills the memory") {
  const std::string bomb = Packed(ContentCoding::kGzip, std::string(10 * kMax, 'x'));
  CHECK(bomb.size() < kMax / 10);
  std::string out;
  CHECK(Unpacked(ContentCoding::kGzip, bomb, &out).code() == StatusCode::kLimitExceeded);
  CHECK(out.capacity() < 2 * kMax);
  REQUIRE(Unpacked(ContentCoding::kGzip, Packed(ContentCoding::kGzip, std::string(kMax, 'x')), &out)
              .ok());
}

}  // namespace hg::http
