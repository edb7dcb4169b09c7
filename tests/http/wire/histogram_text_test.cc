#include "http/wire/histogram_text.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

TEST_CASE("bounds are two numbers separated by a comma") {
  struct Case {
    const char *bounds, *refusal;
  };
  for (const Case& c : {Case{"0,1.75", ""},
                        {"-5,5", ""},
                        {"1e0,1e1", ""},
                        {"0-1.75", "Unable to parse bucket bounds: 0-1.75"},
                        {"5", "Unable to parse bucket bounds: 5"},
                        {"1,2,3", "Unable to parse bucket bounds: 1,2,3"},
                        {"1,", "Unable to parse bucket bounds: 1,"},
                        {"a,b", "Unable to parse value to a number"}}) {
    CAPTURE(c.bounds);
    codec::SimpleHistogram histogram;
    CHECK(AddBucket(c.bounds, 3, &histogram).message() == c.refusal);
    CHECK(histogram.buckets.size() == (*c.refusal == '\0' ? 1 : 0));
  }
}

TEST_CASE("words of a line define buckets, underflow and overflow") {
  codec::SimpleHistogram histogram;
  REQUIRE(ParseBucketWords("0,1.75=12:1.75,3.5=16:U=1:o=2", &histogram));
  CHECK(histogram == codec::SimpleHistogram{0, {{0, 1.75F, 12}, {1.75F, 3.5F, 16}}, 1, 2});
  for (const char* bad : {"0-1=2", "0,1=x", "0,1", "0,1=2::0,1=3"}) {
    CAPTURE(bad);
    codec::SimpleHistogram unused;
    CHECK_FALSE(ParseBucketWords(bad, &unused));
  }
}

TEST_CASE("base64 is decoded without the codec's id, and other characters are skipped") {
  const auto good = DecodeHistogramText("AAEAAAAA P4AAAAcAAA==", 42);
  REQUIRE(good.ok());
  CHECK(*good == codec::SimpleHistogram{42, {{0, 1, 7}}, 0, 0});
  CHECK(DecodeHistogramText("!!!", 0).status().message() ==
        "Byte array shorter than 6 bytes detected: \"\"");
  CHECK(DecodeHistogramText("AAD/", 0).status().message() ==
        "Byte array shorter than 6 bytes detected: [0, 0, -1]");
  // A group of fewer than four digits is dropped.
  CHECK(DecodeHistogramText("AAE", 0).status().message() ==
        "Byte array shorter than 6 bytes detected: \"\"");
  CHECK(DecodeHistogramText("YWI=", 0).status().message() ==
        "Byte array shorter than 6 bytes detected: \"ab\"");
  CHECK_FALSE(DecodeHistogramText("AAUAAAAAP4AA", 0).ok());
}

}  // namespace
}  // namespace hg::http
