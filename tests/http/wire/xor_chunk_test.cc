#include "http/wire/xor_chunk.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/http/wire/xor_decoder.h"

namespace hg::http {
namespace {

void CheckRoundTrip(const std::vector<XorSample>& samples) {
  XorChunk chunk;
  for (const XorSample& sample : samples) chunk.Add(sample.time_ms, sample.value);
  const std::vector<XorSample> decoded = DecodeXorChunk(chunk.bytes());
  REQUIRE(decoded.size() == samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    CHECK(decoded[i].time_ms == samples[i].time_ms);
    CHECK(std::bit_cast<uint64_t>(decoded[i].value) == std::bit_cast<uint64_t>(samples[i].value));
  }
}

}  // namespace

TEST_CASE("a chunk has the bytes that Prometheus writes") {
  XorChunk chunk;
  chunk.Add(1000, 1);
  CHECK(chunk.bytes() == std::string("\x00\x01\xd0\x0f\x3f\xf0\x00\x00\x00\x00\x00\x00", 12));
  chunk.Add(1010, 1);
  CHECK(chunk.bytes() ==
        std::string("\x00\x02\xd0\x0f\x3f\xf0\x00\x00\x00\x00\x00\x00\x0a\x00", 14));
}

TEST_CASE("times with differences of all encoded sizes are decoded to the same times") {
  std::vector<XorSample> samples = {{-5, 0}, {10, 0}};
  for (const int64_t change : {0, 1, -1, 8191, -8191, 8192, -8192, 8193, -8193, 65536, -65536,
                               65537, 524288, -524288, 524289, 5'000'000, -5'000'000})
    samples.push_back(
        {samples.back().time_ms * 2 - samples[samples.size() - 2].time_ms + change, 0});
  CheckRoundTrip(samples);
}

TEST_CASE("values that are not numbers keep their bits") {
  const double stale = std::bit_cast<double>(uint64_t{0x7ff0000000000002});
  const double inf = std::numeric_limits<double>::infinity();
  CheckRoundTrip({{0, stale},
                  {1, std::nan("")},
                  {2, inf},
                  {3, -inf},
                  {4, -0.0},
                  {5, 0.0},
                  {6, std::numeric_limits<double>::denorm_min()},
                  {7, stale}});
}

TEST_CASE("full chunks of any values are decoded to the same samples") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<XorSample> samples;
    int64_t time_ms = 1'700'000'000'000;
    for (size_t i = 0; i < kChunkSamplesMax; ++i) {
      time_ms += 1 + static_cast<int64_t>(random() % (round % 2 == 0 ? 20 : 2'000'000));
      const double value = round % 3 == 0 ? std::bit_cast<double>(random())
                                          : static_cast<double>(random() % 1000) / 8;
      samples.push_back({time_ms, value});
    }
    CheckRoundTrip(samples);
  }
}

}  // namespace hg::http
