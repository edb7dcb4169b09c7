#include "query/buckets/rate.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/query/columns.h"

namespace hg::query {
namespace {

constexpr int64_t kT = 1'500'000'000;

/// Returns the rates without the first one, which is a pseudo-rate.
std::string Rates(PointColumns points, const RateOptions& options = {}) {
  REQUIRE(ApplyRate(options, &points).ok());
  std::string out;
  for (size_t i = 1; i < points.size(); ++i) {
    if (i > 1) out += ' ';
    AppendJavaDouble(&out, std::bit_cast<double>(points.bits[i]));
  }
  return out;
}

TEST_CASE("a rate is per second, and differences of integers wrap around") {
  CHECK(Rates(OfInts({{kT, INT64_MIN + 10}, {kT + 1, INT64_MAX}})) == "-11.0");
  PointColumns quarter = OfInts({{kT, 0}, {kT, 1}});
  quarter.time_ms[1] += 250;
  CHECK(Rates(quarter) == "4.0");
}

TEST_CASE("the first rate is relative to zero at time zero") {
  PointColumns points =
      OfInts({{1'500'000'015, 1'500'000'015'000}, {1'500'000'025, 1'500'000'015'020}});
  REQUIRE(ApplyRate({}, &points).ok());
  CHECK(Text(points) == "1500000015:1000.0 1500000025:2.0");
}

TEST_CASE("NaN makes the rates before and after it NaN, and a value of zero does not") {
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(Rates(OfDoubles({{kT, 1}, {kT + 10, 2}, {kT + 20, nan}, {kT + 30, 5}, {kT + 40, 9}})) ==
        "0.1 NaN NaN 0.4");
  CHECK(Rates(OfDoubles({{kT, 1}, {kT + 10, 2}, {kT + 20, 0}, {kT + 30, 5}, {kT + 40, 9}})) ==
        "0.1 -0.2 0.5 0.4");
  CHECK(Rates(OfDoubles({{kT, 1}, {kT + 10, 2}, {kT + 30, 5}, {kT + 40, 9}})) == "0.1 0.15 0.4");
}

TEST_CASE(
    "a counter that decreases has rolled over, was reset, or is dropped, as the options say") {
  PointColumns points = OfInts({{kT, 65000}, {kT + 10, 65530}, {kT + 20, 100}, {kT + 30, 200}});
  CHECK(Rates(points, {true, 65535, 0, false}) == "53.0 10.5 10.0");
  CHECK(Rates(points, {true, 65535, 5, false}) == "53.0 0.0 10.0");
  CHECK(Rates(points, {true, 65535, 0, true}) == "53.0 10.0");
  CHECK(Rates(points, {true, INT64_MAX, 0, false}) == "53.0 9.2233720368547098E17 10.0");
  CHECK(Rates(points, {false, INT64_MAX, 0, true}) == "53.0 -6543.0 10.0");
}

TEST_CASE("a negative first value of a counter is also a reset") {
  PointColumns points = OfInts({{kT, -5}, {kT + 10, 5}, {kT + 20, 25}});
  REQUIRE(ApplyRate({true, INT64_MAX, 0, true}, &points).ok());
  CHECK(Text(points) == "1500000010:1.0 1500000020:2.0");
}

TEST_CASE("a point at time zero has no rate") {
  PointColumns points = OfInts({{0, 1}, {1, 2}});
  CHECK_FALSE(ApplyRate({}, &points).ok());
}

}  // namespace
}  // namespace hg::query
