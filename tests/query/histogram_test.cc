#include "query/histogram.h"

#include <doctest/doctest.h>

#include <bit>

namespace hg::query {
namespace {

using codec::SimpleHistogram;

SimpleHistogram Two(uint64_t low, uint64_t high) {
  return {0, {{0, 1.75F, low}, {1.75F, 3.5F, high}}, 1, 2};
}

TEST_CASE("a percentile is the middle of the bucket where the counts reach it") {
  struct Case {
    double p, want;
  };
  for (const Case& c : {Case{42, 0.875},
                        {43, 2.625},
                        {50, 2.625},
                        {100, 2.625},
                        {1, 0.875},
                        {0.5, -1},
                        {0, -1},
                        {100.1, -1}}) {
    CAPTURE(c.p);
    CHECK(Percentile(Two(12, 16), c.p) == c.want);
  }
  CHECK(Percentile(SimpleHistogram{}, 50) == 0.0);
  CHECK(Percentile(Two(0, 0), 50) == 0.0);
}

TEST_CASE("the total of counts wraps at 32 bits, their running sum does not") {
  constexpr uint64_t kMax = 2147483647;
  CHECK(Percentile(Two(kMax, 7), 50) == 0.0);
  CHECK(Percentile(Two(kMax + 1, 1), 50) == 0.875);
  CHECK(Percentile(Two(kMax, kMax), 1) == 0.0);
  CHECK(Percentile(Two(kMax + 1, kMax + 1), 100) == 0.0);
  CHECK(Percentile({0, {{0, 1, 1u << 30}, {1, 2, 1u << 30}, {2, 3, 1u << 31}}, 0, 0}, 99) == 0.5);
}

TEST_CASE("adding joins equal buckets and keeps the others in order") {
  SimpleHistogram sum{0, {{0, 1, 5}, {3, 4, 7}}, 1, 0};
  AddHistogram({0, {{0, 1, 2}, {0, 2, 1}, {5, 6, 9}}, 3, 4}, &sum);
  CHECK(sum == SimpleHistogram{0, {{0, 1, 7}, {0, 2, 1}, {3, 4, 7}, {5, 6, 9}}, 4, 4});
}

TEST_CASE("each series gives one histogram to an instant of its group") {
  const HistogramColumn a{{1000, Two(1, 0)}, {1000, Two(2, 0)}, {3000, Two(4, 0)}};
  const HistogramColumn b{{1000, Two(0, 1)}, {2000, Two(0, 2)}};
  const HistogramColumn* columns[] = {&a, &b};
  const HistogramColumn merged = Merged(columns);
  REQUIRE(merged.size() == 4);
  CHECK(merged[0].time_ms == 1000);
  CHECK(merged[0].histogram.buckets == Two(1, 1).buckets);
  CHECK(merged[1].time_ms == 1000);
  CHECK(merged[1].histogram.buckets == Two(2, 0).buckets);
  CHECK(merged[2].time_ms == 2000);
  CHECK(merged[3].time_ms == 3000);
}

TEST_CASE("a column ends at the instant 0") {
  const HistogramColumn a{{0, Two(1, 0)}, {1000, Two(2, 0)}};
  const HistogramColumn b{{1000, Two(0, 1)}};
  const HistogramColumn* columns[] = {&a, &b};
  const HistogramColumn merged = Merged(columns);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].histogram.buckets == Two(0, 1).buckets);
}

TEST_CASE("outputs are percentiles ascending, then the buckets of a histogram") {
  const HistogramColumn column{{1000, Two(12, 16)}, {2000, {0, {{0, 5, 3}}, 0, 9}}};
  const auto outputs = HistogramOutputs(column, {99.9, 50}, &column[0].histogram);
  CHECK(HistogramOutputs(column, {50}, nullptr).size() == 1);
  CHECK(HistogramOutputs({}, {}, &column[0].histogram).size() == 4);  // with no points
  REQUIRE(outputs.size() == 6);
  const char* const suffixes[] = {"_pct_50.0", "_pct_99.9", "_UNDERFLOW",
                                  "_0.0_1.75", "_1.75_3.5", "_OVERFLOW"};
  for (size_t i = 0; i < 6; ++i) CHECK(outputs[i].suffix == suffixes[i]);
  CHECK(std::bit_cast<double>(outputs[0].points.bits[0]) == 2.625);
  CHECK(outputs[2].points.bits == std::vector<uint64_t>{1, 0});
  CHECK(outputs[3].points.bits == std::vector<uint64_t>{12, 0});
  CHECK(outputs[5].points.bits == std::vector<uint64_t>{2, 9});
}

}  // namespace
}  // namespace hg::query
