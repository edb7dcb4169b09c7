#include "query/buckets/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <span>

#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

using codec::SimpleHistogram;

double Percentile(const SimpleHistogram& histogram, double p) {
  return Percentiles(histogram, std::span(&p, 1)).at(0);
}

HistogramColumn Merge(std::span<const HistogramColumn* const> columns) {
  MemoryTally memory(nullptr);
  return *Merged(columns, &memory);
}

SimpleHistogram Two(uint64_t low, uint64_t high) {
  return {0, {{0, 1.75F, low}, {1.75F, 3.5F, high}}, 1, 2};
}

TEST_CASE("a percentile is the middle of the bucket in which the counts reach it") {
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

TEST_CASE("the total of counts wraps at 32 bits, and the running sum does not") {
  constexpr uint64_t kMax = 2147483647;
  CHECK(Percentile(Two(kMax, 7), 50) == 0.0);
  CHECK(Percentile(Two(kMax + 1, 1), 50) == 0.875);
  CHECK(Percentile(Two(kMax, kMax), 1) == 0.0);
  CHECK(Percentile(Two(kMax + 1, kMax + 1), 100) == 0.0);
  CHECK(Percentile({0, {{0, 1, 1u << 30}, {1, 2, 1u << 30}, {2, 3, 1u << 31}}, 0, 0}, 99) == 0.5);
}

TEST_CASE("adding merges equal buckets and keeps the others in order") {
  MemoryTally memory(nullptr);
  HistogramSum sum(&memory);
  REQUIRE(sum.Add({0, {{0, 1, 5}, {3, 4, 7}}, 1, 0}).ok());
  REQUIRE(sum.Add({0, {{0, 1, 2}, {0, 2, 1}, {5, 6, 9}}, 3, 4}).ok());
  CHECK(*sum.Take() == SimpleHistogram{0, {{0, 1, 7}, {0, 2, 1}, {3, 4, 7}, {5, 6, 9}}, 4, 4});
}

TEST_CASE("a merge adds at most one histogram of each series to an instant") {
  const HistogramColumn a{{1000, Two(1, 0)}, {1000, Two(2, 0)}, {3000, Two(4, 0)}};
  const HistogramColumn b{{1000, Two(0, 1)}, {2000, Two(0, 2)}};
  const HistogramColumn* columns[] = {&a, &b};
  const HistogramColumn merged = Merge(columns);
  REQUIRE(merged.size() == 4);
  CHECK(merged[0].time_ms == 1000);
  CHECK(merged[0].histogram.buckets == Two(1, 1).buckets);
  CHECK(merged[1].time_ms == 1000);
  CHECK(merged[1].histogram.buckets == Two(2, 0).buckets);
  CHECK(merged[2].time_ms == 2000);
  CHECK(merged[3].time_ms == 3000);
}

TEST_CASE("a histogram at time 0 ends its series, so that later ones are left out") {
  const HistogramColumn a{{0, Two(1, 0)}, {1000, Two(2, 0)}};
  const HistogramColumn b{{1000, Two(0, 1)}};
  const HistogramColumn* columns[] = {&a, &b};
  const HistogramColumn merged = Merge(columns);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].histogram.buckets == Two(0, 1).buckets);
}

TEST_CASE("the outputs of histograms are the percentiles in ascending order, then the buckets") {
  const HistogramColumn column{{1000, Two(12, 16)}, {2000, {0, {{0, 5, 3}}, 0, 9}}};
  RequestContext& context = RequestContext::Unlimited();
  const auto outputs = *HistogramOutputs(column, {99.9, 50}, &column[0].histogram, context);
  CHECK(HistogramOutputs(column, {50}, nullptr, context)->size() == 1);
  // Without points there is still an output for each bucket.
  CHECK(HistogramOutputs({}, {}, &column[0].histogram, context)->size() == 4);
  REQUIRE(outputs.size() == 6);
  const char* const suffixes[] = {"_pct_50.0", "_pct_99.9", "_UNDERFLOW",
                                  "_0.0_1.75", "_1.75_3.5", "_OVERFLOW"};
  for (size_t i = 0; i < 6; ++i) CHECK(outputs[i].suffix == suffixes[i]);
  CHECK(std::bit_cast<double>(outputs[0].points.bits[0]) == 2.625);
  CHECK(outputs[2].points.bits == std::vector<uint64_t>{1, 0});
  CHECK(outputs[3].points.bits == std::vector<uint64_t>{12, 0});
  CHECK(outputs[5].points.bits == std::vector<uint64_t>{2, 9});
}

TEST_CASE("several percentiles equal those computed one by one") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    SimpleHistogram histogram;
    for (uint64_t i = 0; i < random() % 20; ++i) {
      const auto lower = static_cast<float>(i);
      // Counts of more than 31 bits are negative in 32 bits.
      histogram.buckets.push_back({lower, lower + 1, random() >> (random() % 3 == 0 ? 32 : 60)});
    }
    std::vector<double> wanted = {0, 0.5, 1, 1, 100, 100.5};
    for (int i = 0; i < 20; ++i) wanted.push_back(static_cast<double>(random() % 1000) / 10);
    std::sort(wanted.begin(), wanted.end());
    const std::vector<double> all = Percentiles(histogram, wanted);
    REQUIRE(all.size() == wanted.size());
    for (size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == Percentile(histogram, wanted[i]));
  }
}

// Histograms whose bounds all differ.
HistogramColumn Different(int count, int buckets) {
  HistogramColumn out;
  for (int i = 0; i < count; ++i) {
    TimedHistogram& h = out.emplace_back();
    h.time_ms = 3'600'000 + i;
    for (int k = 0; k < buckets; ++k) {
      const auto lower = static_cast<float>(k * count + i);
      h.histogram.buckets.push_back({lower, lower + 1, 1});
    }
  }
  return out;
}

TEST_CASE("histograms of different bounds are added in n log n steps, which are reported") {
  constexpr int kHistograms = 500, kBuckets = 400;
  const HistogramColumn column = Different(kHistograms, kBuckets);
  DownsampleSpec spec = *ParseDownsample("1h-sum");
  const BucketGrid grid(spec, {3600, 7200}, 3'600'000, 7'200'000);
  FakeWatch watch;
  MemoryTally memory(&watch);
  const Result<HistogramColumn> sum = Downsampled(column, grid, &memory);
  REQUIRE(sum.ok());
  REQUIRE(sum->size() == 1);
  CHECK(sum->at(0).histogram.buckets.size() == kHistograms * kBuckets);
  CHECK(std::is_sorted(sum->at(0).histogram.buckets.begin(), sum->at(0).histogram.buckets.end(),
                       [](const auto& a, const auto& b) { return a.lower < b.lower; }));
  CHECK(watch.steps >= kHistograms * kBuckets);
  CHECK(watch.steps < uint64_t{20} * kHistograms * kBuckets);
  CHECK(watch.bytes_most >= HistogramBytes(*sum));
  CHECK(memory.held() >= HistogramBytes(*sum));
  FakeWatch hasty;
  hasty.steps_max = 100'000;
  MemoryTally other(&hasty);
  CHECK(Downsampled(column, grid, &other).status().code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE("the outputs of a histogram are charged and counted before they are created") {
  const HistogramColumn column = Different(10, 1000);
  const std::vector<double> many(100'000, 50.0);
  FakeWatch poor;
  poor.bytes_max = 10'000'000;
  CHECK(HistogramOutputs(column, many, nullptr, poor).status().code() ==
        StatusCode::kLimitExceeded);
  FakeWatch hasty;
  hasty.steps_max = 300'000;
  CHECK(HistogramOutputs(column, many, nullptr, hasty).status().code() ==
        StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hg::query
