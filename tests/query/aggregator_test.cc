#include "query/buckets/aggregator.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "storage/model/special_double.h"

namespace hg::query {
namespace {

int64_t Int(const char* name, std::vector<int64_t> values) {
  std::vector<double> scratch;
  return RunInt(*FindAggregator(name), values, &scratch);
}
double Double(const char* name, std::vector<double> values) {
  std::vector<double> scratch;
  return RunDouble(*FindAggregator(name), values, &scratch);
}

TEST_CASE("aggregation functions are found only by their exact names") {
  CHECK(FindAggregator("squareSum") != nullptr);
  CHECK(FindAggregator("squaresum") == nullptr);
  CHECK(FindAggregator("movingAverage") == nullptr);
}

TEST_CASE("integers wrap around, and divisions truncate toward zero") {
  CHECK(Int("sum", {INT64_MAX, 1}) == INT64_MIN);
  CHECK(Int("mult", {INT64_MAX, 2}) == -2);
  CHECK(Int("avg", {-3, -4}) == -3);
  CHECK(Int("squareSum", {3, -4}) == 25);
  CHECK(Int("diff", {7, 1, 4}) == -3);
  CHECK(Int("diff", {7}) == 0);
  CHECK(Int("count", {7, 7}) == 2);
  CHECK(Int("median", {4, 1, 3, 2}) == 3);
  CHECK(Int("first", {5, 6}) == 5);
  CHECK(Int("last", {5, 6}) == 6);
}

TEST_CASE("dev is the standard deviation of the population") {
  CHECK(Double("dev", {10, 20, 30, 40}) == 11.180339887498949);
  CHECK(Int("dev", {10, 20, 30, 40}) == 11);
  CHECK(Int("dev", {10}) == 0);
  CHECK(Double("dev", {10, kNan}) == 0.0);
  CHECK(std::isnan(Double("dev", {kNan})));
}

TEST_CASE("the percentiles epNNr3 and epNNr7 differ from pNN only for integers") {
  struct Case {
    const char* name;
    int64_t of_ints;
    double of_doubles;
  };
  const Case cases[] = {{"p50", 25, 25.0},    {"p75", 37, 37.5},    {"p90", 40, 40.0},
                        {"ep75r3", 30, 37.5}, {"ep75r7", 32, 37.5}, {"ep90r7", 37, 40.0},
                        {"p999", 40, 40.0}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    CHECK(Int(c.name, {40, 10, 30, 20}) == c.of_ints);
    CHECK(Double(c.name, {40, 10, 30, 20}) == c.of_doubles);
  }
  CHECK(Double("p99", {3.5}) == 3.5);
}

TEST_CASE("NaN is skipped by most functions") {
  for (const char* name : {"sum", "min", "max", "avg", "median", "squareSum", "p50"}) {
    CAPTURE(std::string(name));
    CHECK(std::isnan(Double(name, {kNan, kNan})));
  }
  CHECK(Double("sum", {1, kNan, 2}) == 3.0);
  CHECK(Double("avg", {1, kNan, 2}) == 1.5);
  CHECK(Double("min", {kNan, 4, 2}) == 2.0);
  CHECK(Double("count", {kNan, 4}) == 1.0);
  CHECK(Double("count", {kNan}) == 0.0);
  CHECK(std::isnan(Double("mult", {2, kNan})));
  CHECK(std::isnan(Double("first", {kNan, 2})));
  CHECK(std::isnan(Double("last", {2, kNan})));
}

TEST_CASE("-0.0 comes before 0.0") {
  CHECK_FALSE(std::signbit(Double("median", {0.0, -0.0})));
  CHECK(std::signbit(Double("median", {-0.0, 0.0, -0.0})));
  CHECK_FALSE(std::signbit(Double("p75", {0.0, -0.0})));
}

TEST_CASE("diff skips only leading NaNs") {
  CHECK(Double("diff", {kNan, 2, 5}) == 3.0);
  CHECK(Double("diff", {kNan, 5}) == 0.0);
  CHECK(std::isnan(Double("diff", {2, kNan})));
  CHECK(std::isnan(Double("diff", {kNan})));
}

TEST_CASE("doubles become integers as Java casts them") {
  CHECK(SaturatingCast(kNan) == 0);
  CHECK(SaturatingCast(-1.9) == -1);
  CHECK(SaturatingCast(1e300) == INT64_MAX);
  CHECK(SaturatingCast(-1e300) == INT64_MIN);
}

}  // namespace
}  // namespace hg::query
