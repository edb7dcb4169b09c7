#include "query/buckets/bucket_math.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "query/buckets/int_kernels.h"
#include "storage/model/special_double.h"

namespace hg::query {
namespace {

double OneByOne(double sum, const std::vector<int64_t>& values) {
  for (int64_t v : values) sum += static_cast<double>(v);
  return sum;
}

TEST_CASE("sums of integers equal those of adding doubles one by one, whatever their size") {
  std::mt19937_64 random(7);
  for (int bits : {8, 39, 40, 41, 52, 60, 63}) {
    for (double start : {0.0, 0.5, -3.0, 9007199254740992.0}) {
      CAPTURE(bits);
      CAPTURE(start);
      std::vector<int64_t> values;
      for (int i = 0; i < 1000; ++i)
        values.push_back(static_cast<int64_t>(random()) >> (63 - bits));
      RunningSum running{start, 0};
      AddChunk(std::span<const int64_t>(values), &running);
      CHECK(std::bit_cast<uint64_t>(running.sum) ==
            std::bit_cast<uint64_t>(OneByOne(start, values)));
      CHECK(running.count == 1000);
    }
  }
}

TEST_CASE("overflows of long runs of integers are detected") {
  std::vector<int64_t> values(5000, (int64_t{1} << 40) - 1);
  RunningSum running;
  AddChunk(std::span<const int64_t>(values), &running);
  CHECK(running.sum == OneByOne(0, values));
}

TEST_CASE("NaNs are neither added nor counted") {
  std::vector<double> values = {1, kNan, 0.1, 0.2, kNan};
  RunningSum running;
  AddChunk(std::span<const double>(values), &running);
  CHECK(running.sum == 1 + 0.1 + 0.2);
  CHECK(running.count == 3);
  CHECK(CountNumbers(values) == 3);
}

TEST_CASE("the minimum and maximum of any number of values are found") {
  std::mt19937_64 random(11);
  for (size_t n : {1, 3, 8, 9, 31, 100}) {
    std::vector<double> doubles;
    std::vector<int64_t> ints;
    double least = kInfinity, greatest = -kInfinity;
    for (size_t i = 0; i < n; ++i) {
      int64_t v = static_cast<int64_t>(random() % 2001) - 1000;
      ints.push_back(v);
      doubles.push_back(static_cast<double>(v));
      least = std::min(least, doubles.back());
      greatest = std::max(greatest, doubles.back());
    }
    CAPTURE(n);
    CHECK(LeastOf(kInfinity, std::span<const double>(doubles)) == least);
    CHECK(LeastOf(kInfinity, std::span<const int64_t>(ints)) == least);
    CHECK(GreatestOf(-kInfinity, std::span<const double>(doubles)) == greatest);
    CHECK(GreatestOf(-kInfinity, std::span<const int64_t>(ints)) == greatest);
    CHECK(LeastOf(-5000, std::span<const double>(doubles)) == -5000);
  }
}

TEST_CASE("NaN is never the minimum or maximum, and of two zeros the first one is kept") {
  std::vector<double> values(20, kNan);
  CHECK(LeastOf(kInfinity, std::span<const double>(values)) == kInfinity);
  values[13] = 4;
  CHECK(LeastOf(kInfinity, std::span<const double>(values)) == 4);
  CHECK(GreatestOf(-kInfinity, std::span<const double>(values)) == 4);
  std::vector<double> zeros(20, 0.0);
  zeros[3] = -0.0;
  CHECK_FALSE(std::signbit(LeastOf(kInfinity, std::span<const double>(zeros))));
  zeros[0] = -0.0;
  CHECK(std::signbit(GreatestOf(-kInfinity, std::span<const double>(zeros))));
}

TEST_CASE("integers give the same results on every processor") {
  std::mt19937_64 random(4);
  const std::vector<IntKernels> kernels = UsableIntKernels();
  for (size_t count = 1; count < 400; ++count) {
    std::vector<int64_t> values;
    const auto narrow = random() % 64;
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<int64_t>(random()) >> narrow);
    IntTotal total;
    for (int64_t v : values) {
      const auto u = static_cast<uint64_t>(v);
      total.sum += u;
      total.bits |= u ^ (u << 1);
    }
    for (const IntKernels& k : kernels) {
      REQUIRE(k.total(values) == total);
      REQUIRE(k.least(values) == *std::min_element(values.begin(), values.end()));
      REQUIRE(k.greatest(values) == *std::max_element(values.begin(), values.end()));
    }
  }
}

}  // namespace
}  // namespace hg::query
