#include "query/buckets/merge.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "query/buckets/rate.h"
#include "tests/query/columns.h"

namespace hg::query {
namespace {

Result<PointColumns> Merge(const char* aggregator, const std::vector<PointColumns>& series,
                           bool rate = false) {
  std::vector<const PointColumns*> pointers;
  for (const PointColumns& s : series) pointers.push_back(&s);
  MergeOptions options;
  options.aggregator = FindAggregator(aggregator);
  options.rate = rate;
  return MergeSeries(options, pointers);
}

PointColumns Mixed(const Doubles& points, const std::vector<int>& doubles) {
  PointColumns out = OfDoubles(points);
  out.kinds.assign(points.size(), 0);
  for (size_t i = 0; i < points.size(); ++i)
    out.bits[i] = static_cast<uint64_t>(static_cast<int64_t>(points[i].second));
  for (int i : doubles) {
    out.kinds[static_cast<size_t>(i)] = 1;
    out.bits[static_cast<size_t>(i)] =
        std::bit_cast<uint64_t>(points[static_cast<size_t>(i)].second);
  }
  return out;
}

TEST_CASE("missing points are filled in as the function requires") {
  const std::vector<PointColumns> series = {OfInts({{0, 0}, {10, 10}, {20, 20}}),
                                            OfInts({{5, 7}, {12, 8}})};
  const std::pair<const char*, const char*> cases[] = {
      {"sum", "0:0 5:12 10:17 12:20 20:20"},  {"zimsum", "0:0 5:7 10:10 12:8 20:20"},
      {"pfsum", "0:0 5:7 10:17 12:18 20:20"}, {"avg", "0:0 5:6 10:8 12:10 20:20"},
      {"min", "0:0 5:5 10:7 12:8 20:20"},     {"mimmin", "0:0 5:7 10:10 12:8 20:20"},
      {"max", "0:0 5:7 10:10 12:12 20:20"},   {"mimmax", "0:0 5:7 10:10 12:8 20:20"},
      {"count", "0:1 5:2 10:2 12:2 20:1"},    {"first", "0:0 5:0 10:10 12:0 20:20"},
      {"last", "0:0 5:7 10:0 12:8 20:20"},    {"diff", "0:0 5:2 10:-3 12:-4 20:0"},
  };
  for (const auto& [name, expected] : cases) {
    CAPTURE(std::string(name));
    CHECK(Text(*Merge(name, series)) == expected);
  }
}

TEST_CASE("interpolation multiplies first, then divides toward zero") {
  std::vector<PointColumns> ints = {OfInts({{0, 0}, {3, -10}}), OfInts({{1, 0}, {2, 0}})};
  CHECK(Text(*Merge("sum", ints)) == "0:0 1:-3 2:-6 3:-10");
  std::vector<PointColumns> doubles = {OfDoubles({{0, 0.1}, {3, 0.2}}),
                                       OfDoubles({{1, 0}, {2, 0}})};
  CHECK(Text(*Merge("sum", doubles)) == "0:0.1 1:0.13333333333333333 2:0.16666666666666669 3:0.2");
}

TEST_CASE("a value is an integer only if the next one is an integer too") {
  PointColumns series = Mixed({{0, 1}, {1, 2}, {2, 2.5}, {3, 4}, {4, 5}}, {2});
  CHECK(Text(*Merge("sum", {series})) == "0:1 1:2.0 2:2.5 3:4 4:5");
  // Another series' only point, a double at the third instant, makes the first three doubles.
  PointColumns ints = OfInts({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
  CHECK(Text(*Merge("sum", {ints, OfDoubles({{2, 0.5}})})) == "0:1.0 1:2.0 2:3.5 3:4 4:5");
}

TEST_CASE("series with equal instants give the same result as the general algorithm") {
  PointColumns a = OfDoubles({{0, 0.1}, {1, 0.2}, {2, 0.3}});
  PointColumns b = OfDoubles({{0, 0.7}, {1, 1e17}, {2, -0.3}});
  PointColumns c = OfDoubles({{0, 3}, {1, 1}, {2, std::numeric_limits<double>::quiet_NaN()}});
  PointColumns early = OfDoubles({{-1, 5}});  // one more instant, so they are no longer aligned
  for (const char* name :
       {"sum", "avg", "min", "max", "dev", "p90", "count", "squareSum", "last"}) {
    CAPTURE(std::string(name));
    std::string aligned = Text(*Merge(name, {a, b, c}));
    std::string general = Text(*Merge(name, {a, b, c, early}));
    CHECK(general.substr(general.find(' ') + 1) == aligned);
  }
}

TEST_CASE("rates are not interpolated, and the first rate of a series adds no instant") {
  constexpr int64_t t = 1'500'000'000;
  std::vector<PointColumns> series = {
      OfInts({{t, 100}, {t + 10, 200}, {t + 20, 300}, {t + 40, 500}}),
      OfInts(
          {{t + 15, 1'500'000'015'000}, {t + 25, 1'500'000'015'020}, {t + 30, 1'500'000'015'020}})};
  for (PointColumns& s : series) REQUIRE(ApplyRate({}, &s).ok());
  CHECK(Text(*Merge("sum", series, true)) ==
        "1500000010:1010.0 1500000020:1010.0 1500000025:12.0 1500000030:10.0 1500000040:10.0");
  series.push_back(OfDoubles({{t + 12, 7}}));  // a single rate contributes nothing
  CHECK(Merge("count", series, true)->size() == 5);
}

TEST_CASE("only the requested range is evaluated, so an infinity outside of it does not fail") {
  std::vector<PointColumns> series = {OfDoubles({{1, 1e308}, {5, 1}}),
                                      OfDoubles({{1, 1e308}, {5, 1}})};
  CHECK_FALSE(Merge("sum", series).ok());
  std::vector<const PointColumns*> pointers = {&series[0], &series[1]};
  MergeOptions options;
  options.aggregator = FindAggregator("sum");
  options.trim_begin_ms = 2000;
  CHECK(Text(*MergeSeries(options, pointers)) == "5:2.0");
  options.last_ms = 4000;
  CHECK(MergeSeries(options, pointers)->size() == 0);
}

TEST_CASE("the instant of an infinity is reported") {
  const std::vector<std::vector<PointColumns>> groups = {
      {OfDoubles({{1, 1}, {2, 1e308}, {3, 1}}), OfDoubles({{1, 1}, {2, 1e308}, {3, 1}})},
      {OfDoubles({{1, 1}, {2, 1e308}}), OfDoubles({{2, 1e308}, {3, 1}})},
      {OfDoubles({{1, 1}, {2, std::numeric_limits<double>::infinity()}})}};
  for (const auto& series : groups) {
    std::vector<const PointColumns*> pointers;
    for (const PointColumns& s : series) pointers.push_back(&s);
    std::optional<int64_t> infinite_ms;
    MergeOptions options;
    options.aggregator = FindAggregator("sum");
    options.infinite_ms = &infinite_ms;
    CHECK_FALSE(MergeSeries(options, pointers).ok());
    REQUIRE(infinite_ms.has_value());
    CHECK(*infinite_ms == 2000);
    options.last_ms = *infinite_ms - 1;
    CHECK(MergeSeries(options, pointers)->size() == 1);
  }
}

TEST_CASE("integers at the limits wrap around when interpolated") {
  std::vector<PointColumns> series = {OfInts({{0, INT64_MIN}, {2, INT64_MAX}}), OfInts({{1, 0}})};
  // The difference of the two values overflows to -1. So (x - x0) · (y1 - y0) is 1000 · -1, and the
  // integer division by 2000 gives 0.
  CHECK(Text(*Merge("sum", series)) ==
        "0:-9223372036854775808 1:-9223372036854775808 2:9223372036854775807");
}

TEST_CASE("series with equal instants are merged to the same bits as value by value") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {
      0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), -kInfinity, kInfinity, 1e308, 5e-324};
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    const size_t count = 2 + random() % 9;
    const size_t instants = 1 + random() % 40;
    std::vector<PointColumns> series(count);
    for (PointColumns& s : series) {
      s.all_double = round % 3 != 0 || random() % 4 != 0;
      for (size_t i = 0; i < instants; ++i) {
        s.time_ms.push_back(static_cast<int64_t>(i) * 1000);
        const auto number = static_cast<int64_t>(random() % 2000) - 1000;
        double v = static_cast<double>(number) / 3;
        // Infinities fail the merge, so they occur in few rounds only.
        if (random() % 5 == 0) v = special[random() % (round % 10 == 0 ? std::size(special) : 3)];
        s.bits.push_back(s.all_double ? std::bit_cast<uint64_t>(v) : static_cast<uint64_t>(number));
      }
    }
    series[0].all_double = true;
    for (uint64_t& bits : series[0].bits) bits = std::bit_cast<uint64_t>(1.0);
    for (const char* name : {"sum", "avg", "min", "max", "mimmin", "count"}) {
      const Aggregator& aggregator = *FindAggregator(name);
      std::vector<uint64_t> expected;
      bool infinite = false;
      for (size_t i = 0; i < instants; ++i) {
        std::vector<double> values;
        std::vector<double> scratch;
        for (const PointColumns& s : series) {
          values.push_back(s.all_double ? std::bit_cast<double>(s.bits[i])
                                        : static_cast<double>(static_cast<int64_t>(s.bits[i])));
        }
        const double value = RunDouble(aggregator, values, &scratch);
        infinite = infinite || std::isinf(value);
        expected.push_back(std::bit_cast<uint64_t>(value));
      }
      const Result<PointColumns> merged = Merge(name, series);
      CAPTURE(name);
      REQUIRE(merged.ok() == !infinite);
      if (!infinite) REQUIRE(merged->bits == expected);
    }
  }
}

}  // namespace
}  // namespace hg::query
