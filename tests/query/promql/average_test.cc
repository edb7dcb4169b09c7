#include "query/promql/average.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace hg::query::promql {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// As bits: averages may be NaN, and nothing may be lost.
std::vector<uint64_t> Together(const std::vector<std::vector<double>>& windows) {
  const std::vector<std::span<const double>> spans(windows.begin(), windows.end());
  std::vector<double> results(windows.size());
  AveragesOf(spans, results.data());
  std::vector<uint64_t> bits;
  for (const double result : results)
    bits.push_back(std::isnan(result) ? 0 : std::bit_cast<uint64_t>(result));
  return bits;
}

std::vector<uint64_t> OneByOne(const std::vector<std::vector<double>>& windows) {
  std::vector<uint64_t> bits;
  for (const auto& window : windows) {
    const double result = AverageOf(window);
    bits.push_back(std::isnan(result) ? 0 : std::bit_cast<uint64_t>(result));
  }
  return bits;
}

}  // namespace

TEST_CASE("an average is there where its sum would be beyond doubles") {
  const double most = std::numeric_limits<double>::max();
  CHECK(AverageOf(std::vector{most, most, most}) == most);
  CHECK(AverageOf(std::vector{1.0, 2.0, 4.5}) == 2.5);
}

TEST_CASE("infinities and NaN have their average") {
  CHECK(AverageOf(std::vector{1.0, kInfinity, 2.0}) == kInfinity);
  CHECK(AverageOf(std::vector{-kInfinity, 1.0, -kInfinity}) == -kInfinity);
  CHECK(std::isnan(AverageOf(std::vector{kInfinity, -kInfinity, 1.0})));
  CHECK(std::isnan(AverageOf(std::vector{1.0, std::nan(""), 1.0})));
}

TEST_CASE("averages that are taken together are those of each window alone, bit for bit") {
  std::mt19937_64 random(5);
  const double odd[] = {kInfinity, -kInfinity, std::nan(""), 0.0, -0.0, 1e308, -1e308, 5e-324};
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    std::vector<std::vector<double>> windows(random() % (kAveragesAtOnce + 1));
    for (auto& window : windows) {
      window.resize(1 + random() % (round % 2 == 0 ? 400 : 5));
      for (double& value : window) {
        value = static_cast<double>(static_cast<int64_t>(random() % 20'000) - 5000) / 100;
        if (round % 3 == 1) value *= std::ldexp(1, static_cast<int>(random() % 120) - 60);
        if (round % 5 == 1 && random() % 50 == 0) value = odd[random() % std::size(odd)];
      }
    }
    CHECK(Together(windows) == OneByOne(windows));
  }
}

}  // namespace hg::query::promql
