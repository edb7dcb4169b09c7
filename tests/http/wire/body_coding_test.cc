#include "http/wire/body_coding.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

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
  return UnpackBody(coding, packed, max, 64, out, nullptr, RequestContext::Unlimited());
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

/// A gzip body of `count` members with `text` in each.
std::string Members(size_t count, std::string_view text) {
  const std::string member = Packed(ContentCoding::kGzip, text);
  std::string body;
  for (size_t i = 0; i < count; ++i) body += member;
  return body;
}

TEST_CASE("the time to unpack many gzip members grows only with the size of the body") {
  constexpr size_t kMembers = 100'000, kTextBytes = 65;
  std::string out;
  // The last member stores a size of 1.
  const std::string body =
      Members(kMembers, std::string(kTextBytes, 'x')) + Packed(ContentCoding::kGzip, "x");
  CHECK(CpuSecondsOf([&] { REQUIRE(Unpacked(ContentCoding::kGzip, body, &out, 16 * kMax).ok()); }) <
        1.5);
  CHECK(out == std::string(kMembers * kTextBytes + 1, 'x'));
}

TEST_CASE("unpacking a large body ends when its request ends") {
  const std::string text(10 * kMax, 'x');
  for (const auto& [coding, packed] :
       {std::pair(ContentCoding::kDeflate, Packed(ContentCoding::kDeflate, text)),
        std::pair(ContentCoding::kGzip, Members(100'000, ""))}) {
    std::string out;
    FakeWatch watch;
    REQUIRE(UnpackBody(coding, packed, 16 * kMax, 64, &out, nullptr, watch).ok());
    CHECK(watch.checks >= 16);
    FakeWatch ended;
    ended.checks_max = 3;
    CHECK(UnpackBody(coding, packed, 16 * kMax, 64, &out, nullptr, ended).code() ==
          StatusCode::kDeadlineExceeded);
  }
}

TEST_CASE("an event loop unpacks only small bodies of one member that store their true size") {
  const auto at_once = [](ContentCoding coding, std::string_view packed, std::string* out) {
    return UnpackAtOnce(coding, packed, kMax, 64, out, nullptr);
  };
  std::string out;
  const std::string text(5000, 'x'), packed = Packed(ContentCoding::kGzip, text);
  REQUIRE(at_once(ContentCoding::kGzip, packed, &out));
  CHECK(out == text);
  CHECK(out.capacity() >= out.size() + 64);
  CHECK(!at_once(ContentCoding::kGzip, packed + packed, &out));
  CHECK(!at_once(ContentCoding::kGzip, Packed(ContentCoding::kGzip, text + text) + packed, &out));
  CHECK(!at_once(ContentCoding::kGzip, packed + Packed(ContentCoding::kGzip, "x"), &out));
  CHECK(!at_once(ContentCoding::kGzip, Packed(ContentCoding::kGzip, std::string(2 * kMax, 'x')),
                 &out));
  CHECK(!at_once(ContentCoding::kDeflate, Packed(ContentCoding::kDeflate, text), &out));
  std::mt19937 random(7);
  std::string noise(kUnpackedAtOnceBytes, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  CHECK(!UnpackAtOnce(ContentCoding::kGzip, Packed(ContentCoding::kGzip, noise),
                      2 * kUnpackedAtOnceBytes, 64, &out, nullptr));
}

TEST_CASE("a deflate body without the zlib wrapper is unpacked") {
  const std::string packed = Packed(ContentCoding::kDeflate, "abc");
  constexpr size_t kHead = 2, kChecksum = 4;
  std::string out;
  REQUIRE(Unpacked(ContentCoding::kDeflate, packed.substr(kHead, packed.size() - kHead - kChecksum),
                   &out)
              .ok());
  CHECK(out == "abc");
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
