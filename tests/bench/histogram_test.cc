#include "bench/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using hg::bench::Histogram;

TEST_CASE("quantiles of a histogram are within 0.4 % of those of the sorted values") {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> durations(10, 3);
  Histogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(static_cast<uint64_t>(durations(random)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto exact = static_cast<double>(values[static_cast<size_t>(q * 99'999)]);
    const auto found = static_cast<double>(histogram.Quantile(q));
    CHECK(std::abs(found - exact) <= exact * 0.004 + 0.5);
  }
  CHECK(histogram.max() == values.back());
  CHECK(histogram.count() == values.size());
}

TEST_CASE("a histogram accepts 0 and the largest number, and an empty one has the quantile 0") {
  Histogram histogram;
  CHECK(histogram.Quantile(0.5) == 0);
  histogram.Add(0);
  CHECK(histogram.Quantile(1) == 0);
  histogram.Add(UINT64_MAX);
  CHECK(histogram.Quantile(0) == 0);
  CHECK(histogram.Quantile(1) > UINT64_MAX / 256 * 255);
}

TEST_CASE("the buckets of a histogram are visited in ascending order, and their counts add up") {
  Histogram histogram;
  for (uint64_t value = 1; value < 1'000'000; value += 7) histogram.Add(value);
  uint64_t before = 0;
  uint64_t sum = 0;
  histogram.Each([&](uint64_t least, uint64_t count) {
    CHECK((sum == 0 || least > before));
    before = least;
    sum += count;
  });
  CHECK(sum == histogram.count());
}
