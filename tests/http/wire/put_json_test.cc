#include "http/wire/put_json.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http {
namespace {

std::string Point(int i, std::string_view tags = R"({"host":"a"})") {
  return R"({"metric":"m","timestamp":)" + std::to_string(1700000000 + i) + R"(,"value":)" +
         std::to_string(i) + R"(,"tags":)" + std::string(tags) + "}";
}

bool Parse(std::string body, std::vector<KeyedPoint>* points) {
  static PutJsonParser parser;
  static std::string kept;
  kept = std::move(body);
  kept.reserve(kept.size() + kPutPadding);
  const std::string before = kept;
  const bool good = parser.Parse(kept, points);
  CHECK(kept == before);
  return good;
}

}  // namespace

TEST_CASE("fields may have any order, and their bytes are returned unchanged") {
  std::vector<KeyedPoint> points;
  REQUIRE(
      Parse("\t[ { \"tags\" : {\"a\": \"b\\n\" } , \"value\":\"-1.5\",\"metric\":\"m\\/x\" "
            ",\"timestamp\":7 } ] ",
            &points));
  REQUIRE(points.size() == 1);
  CHECK(points[0].series.metric == "m\\/x");
  CHECK(points[0].series.tags == "{\"a\": \"b\\n\" }");
  CHECK(points[0].time.raw == 7);
  CHECK(points[0].value == PointValue::Double(-1.5));
}

TEST_CASE("the fast path does not accept a body without content") {
  std::vector<KeyedPoint> points;
  CHECK_FALSE(Parse("", &points));
  CHECK_FALSE(Parse(" ", &points));
}

TEST_CASE("long arrays are parsed piece by piece, whatever is between the points") {
  for (const char* separator : {",", ", ", " ,\r\n\t"}) {
    std::string body = "[";
    constexpr int kCount = 40000;  // some 3 MB
    for (int i = 0; i < kCount; ++i) body += (i > 0 ? separator : "") + Point(i);
    body += "]";
    std::vector<KeyedPoint> points;
    REQUIRE(Parse(body, &points));
    REQUIRE(points.size() == kCount);
    for (int i = 0; i < kCount; ++i) REQUIRE(points[i].value == PointValue::Int(i));
  }
}

TEST_CASE("the fast path does not accept a long array with an error anywhere") {
  std::string body = "[";
  for (int i = 0; i < 40000; ++i) body += (i > 0 ? "," : "") + Point(i);
  std::vector<KeyedPoint> points;
  CHECK_FALSE(Parse(body, &points));
  CHECK_FALSE(Parse(body + "}", &points));
  CHECK_FALSE(Parse(body + ",{}]", &points));
  CHECK_FALSE(Parse(body + ",]", &points));
  std::string broken = body + "]";
  broken[broken.size() / 2] = '\n';
  CHECK_FALSE(Parse(broken, &points));
}

TEST_CASE(
    "text that looks like a border between points is left to the slow path or parsed correctly") {
  // The cut falls into a string value: nothing of the halves may be used.
  std::string tags = R"({"host":")";
  while (tags.size() < 1500000) tags += "},{";
  tags += "\"}";
  std::vector<KeyedPoint> points;
  const bool good = Parse("[" + Point(1) + "," + Point(2, tags) + "," + Point(3) + "]", &points);
  if (good) {
    REQUIRE(points.size() == 3);
    CHECK(points[1].series.tags == tags);
  }
}

TEST_CASE("raw series keys are found next to points that the fast path does not accept") {
  PutJsonParser parser;
  std::string body =
      "[" + Point(1) +
      R"(,null,{"metric":7,"tags":{}},{"metric":"x","value":[],"timestamp":"t","tags":{"a":"b"}},)" +
      Point(2, R"({"c":"d"})") + "]";
  body.reserve(body.size() + kPutPadding);
  std::vector<RawKey> raw_keys;
  parser.ParseRawKeys(body, &raw_keys);
  REQUIRE(raw_keys.size() == 5);
  CHECK(raw_keys[0].tags == R"({"host":"a"})");
  CHECK(raw_keys[1].metric.empty());
  CHECK(raw_keys[2].metric.empty());
  CHECK(raw_keys[3].metric == "x");
  CHECK(raw_keys[4].tags == R"({"c":"d"})");
}

}  // namespace hg::http
