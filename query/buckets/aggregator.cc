#include "query/buckets/aggregator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "query/buckets/java_order.h"
#include "storage/model/special_double.h"

namespace hg::query {
namespace {

// Compares two doubles as Java does. This is a function object, so that the compiler can inline it.
constexpr auto kJavaLess = [](double a, double b) { return JavaLess(a, b); };

constexpr Aggregator kAggregators[] = {
    {"sum", Function::kSum},
    {"pfsum", Function::kSum, Interpolation::kPrevious},
    {"zimsum", Function::kSum, Interpolation::kZero},
    {"min", Function::kMin},
    {"max", Function::kMax},
    {"mimmin", Function::kMin, Interpolation::kMax},
    {"mimmax", Function::kMax, Interpolation::kMin},
    {"avg", Function::kAvg},
    {"median", Function::kMedian},
    {"mult", Function::kMult},
    {"dev", Function::kDev},
    {"diff", Function::kDiff},
    {"squareSum", Function::kSquareSum, Interpolation::kZero},
    {"count", Function::kCount, Interpolation::kZero},
    {"first", Function::kFirst, Interpolation::kZero},
    {"last", Function::kLast, Interpolation::kZero},
    {"none", Function::kNone, Interpolation::kZero},
    {"p50", Function::kPercentile, Interpolation::kLerp, 50.0},
    {"p75", Function::kPercentile, Interpolation::kLerp, 75.0},
    {"p90", Function::kPercentile, Interpolation::kLerp, 90.0},
    {"p95", Function::kPercentile, Interpolation::kLerp, 95.0},
    {"p99", Function::kPercentile, Interpolation::kLerp, 99.0},
    {"p999", Function::kPercentile, Interpolation::kLerp, 99.9},
    {"ep50r3", Function::kPercentile, Interpolation::kLerp, 50.0, Estimation::kR3},
    {"ep75r3", Function::kPercentile, Interpolation::kLerp, 75.0, Estimation::kR3},
    {"ep90r3", Function::kPercentile, Interpolation::kLerp, 90.0, Estimation::kR3},
    {"ep95r3", Function::kPercentile, Interpolation::kLerp, 95.0, Estimation::kR3},
    {"ep99r3", Function::kPercentile, Interpolation::kLerp, 99.0, Estimation::kR3},
    {"ep999r3", Function::kPercentile, Interpolation::kLerp, 99.9, Estimation::kR3},
    {"ep50r7", Function::kPercentile, Interpolation::kLerp, 50.0, Estimation::kR7},
    {"ep75r7", Function::kPercentile, Interpolation::kLerp, 75.0, Estimation::kR7},
    {"ep90r7", Function::kPercentile, Interpolation::kLerp, 90.0, Estimation::kR7},
    {"ep95r7", Function::kPercentile, Interpolation::kLerp, 95.0, Estimation::kR7},
    {"ep99r7", Function::kPercentile, Interpolation::kLerp, 99.0, Estimation::kR7},
    {"ep999r7", Function::kPercentile, Interpolation::kLerp, 99.9, Estimation::kR7},
};

// Returns a percentile. In the definition, the sorted values are numbered from 1, here from 0. Only
// the one or two necessary values are located, because sorting a bucket of millions of values would
// take seconds.
template <typename Less>
double Percentile(std::span<double> values, double percent, Estimation estimation, Less less) {
  const size_t count = values.size();
  if (count == 1) return values[0];
  double p = percent / 100;
  double n = static_cast<double>(count);
  double h = 0;
  switch (estimation) {
    case Estimation::kLegacy:
      h = p * (n + 1);
      break;
    case Estimation::kR3:
      h = p <= 0.5 / n ? 0 : std::nearbyint(n * p);
      break;
    case Estimation::kR7:
      h = 1 + (n - 1) * p;
      break;
  }
  if (h < 1) return *std::min_element(values.begin(), values.end(), less);
  if (h >= n) return *std::max_element(values.begin(), values.end(), less);
  const double floor = std::floor(h);
  const auto upper = values.begin() + static_cast<ptrdiff_t>(floor);
  std::nth_element(values.begin(), upper - 1, values.end(), less);
  const double lower = *(upper - 1);
  return lower + (h - floor) * (*std::min_element(upper, values.end(), less) - lower);
}

// Computes the standard deviation by Welford's method. `values` is not empty.
template <typename T>
double Deviation(std::span<const T> values) {
  double mean = static_cast<double>(values[0]);
  double m2 = 0;
  double n = 1;
  for (size_t i = 1; i < values.size(); ++i) {
    double x = static_cast<double>(values[i]);
    n += 1;
    double next = mean + (x - mean) / n;
    m2 += (x - mean) * (x - next);
    mean = next;
  }
  return values.size() == 1 ? 0.0 : std::sqrt(m2 / n);
}

// This is a function object, so that the compiler can inline it into algorithms.
constexpr auto kIsNan = [](double value) { return std::isnan(value); };

// Returns whether a function of doubles first removes the values that are NaN.
bool NeedsNumbers(Function function) {
  return function == Function::kMedian || function == Function::kDev ||
         function == Function::kPercentile;
}

// Applies a function for which NeedsNumbers is true.
double OfNumbers(const Aggregator& aggregator, std::span<double> numbers) {
  if (numbers.empty()) return kNan;
  if (aggregator.function == Function::kDev) return Deviation(std::span<const double>(numbers));
  if (aggregator.function == Function::kMedian) {
    const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end(), kJavaLess);
    return *middle;
  }
  return Percentile(numbers, aggregator.percent, Estimation::kLegacy, kJavaLess);
}

double Sum(std::span<const double> values) {
  double sum = 0;
  bool any = false;
  for (double v : values) {
    if (std::isnan(v)) continue;
    sum += v;
    any = true;
  }
  return any ? sum : kNan;
}

double Average(std::span<const double> values) {
  double sum = 0;
  int64_t n = 0;
  for (double v : values) {
    if (std::isnan(v)) continue;
    sum += v;
    ++n;
  }
  return n > 0 ? sum / static_cast<double>(n) : kNan;
}

double Difference(std::span<const double> values) {
  size_t first = 0;
  while (first < values.size() && std::isnan(values[first])) ++first;
  if (first == values.size()) return kNan;
  return first + 1 == values.size() ? 0.0 : values.back() - values[first];
}

uint64_t Wrap(int64_t v) { return static_cast<uint64_t>(v); }

}  // namespace

const Aggregator* FindAggregator(std::string_view name) {
  for (const Aggregator& a : kAggregators) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

int64_t SaturatingCast(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  if (value < -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(value);
}

double RunDouble(const Aggregator& aggregator, std::span<const double> values,
                 std::vector<double>* scratch) {
  switch (aggregator.function) {
    case Function::kSum:
      return Sum(values);
    case Function::kMin: {
      double min = kInfinity;
      for (double v : values) min = v < min ? v : min;
      return std::isinf(min) && min > 0 ? kNan : min;
    }
    case Function::kMax: {
      double max = -kInfinity;
      for (double v : values) max = v > max ? v : max;
      return std::isinf(max) && max < 0 ? kNan : max;
    }
    case Function::kAvg:
      return Average(values);
    case Function::kMult: {
      double product = 1.0;
      for (double v : values) product *= v;
      return product;
    }
    case Function::kDiff:
      return Difference(values);
    case Function::kSquareSum: {
      double sum = 0;
      bool any = false;
      for (double v : values) {
        if (std::isnan(v)) continue;
        sum += v * v;
        any = true;
      }
      return any ? sum : kNan;
    }
    case Function::kCount: {
      int64_t n = 0;
      for (double v : values) n += std::isnan(v) ? 0 : 1;
      return static_cast<double>(n);
    }
    case Function::kFirst:
    case Function::kNone:
      return values.front();
    case Function::kLast:
      return values.back();
    case Function::kMedian:
    case Function::kDev:
    case Function::kPercentile:
      break;
  }
  scratch->clear();
  std::remove_copy_if(values.begin(), values.end(), std::back_inserter(*scratch), kIsNan);
  return OfNumbers(aggregator, *scratch);
}

// RunDouble gets no working memory here. So NeedsNumbers must be true for each function that uses
// working memory.
double RunDoubleInPlace(const Aggregator& aggregator, std::vector<double>* values) {
  if (!NeedsNumbers(aggregator.function)) return RunDouble(aggregator, *values, nullptr);
  std::erase_if(*values, kIsNan);
  return OfNumbers(aggregator, *values);
}

int64_t RunInt(const Aggregator& aggregator, std::span<const int64_t> values,
               std::vector<double>* scratch) {
  switch (aggregator.function) {
    case Function::kSum:
    case Function::kAvg: {
      uint64_t sum = 0;
      for (int64_t v : values) sum += Wrap(v);
      int64_t total = static_cast<int64_t>(sum);
      return aggregator.function == Function::kSum ? total
                                                   : total / static_cast<int64_t>(values.size());
    }
    case Function::kMin:
      return *std::min_element(values.begin(), values.end());
    case Function::kMax:
      return *std::max_element(values.begin(), values.end());
    case Function::kMult: {
      uint64_t product = 1;
      for (int64_t v : values) product *= Wrap(v);
      return static_cast<int64_t>(product);
    }
    case Function::kDev:
      return SaturatingCast(Deviation(values));
    case Function::kDiff:
      return values.size() == 1 ? 0
                                : static_cast<int64_t>(Wrap(values.back()) - Wrap(values.front()));
    case Function::kSquareSum: {
      uint64_t sum = 0;
      for (int64_t v : values) sum += Wrap(v) * Wrap(v);
      return static_cast<int64_t>(sum);
    }
    case Function::kCount:
      return static_cast<int64_t>(values.size());
    case Function::kFirst:
    case Function::kNone:
      return values.front();
    case Function::kLast:
      return values.back();
    case Function::kMedian: {
      std::vector<int64_t> sorted(values.begin(), values.end());
      auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
      std::nth_element(sorted.begin(), middle, sorted.end());
      return *middle;
    }
    case Function::kPercentile:
      break;
  }
  scratch->assign(values.begin(), values.end());
  return SaturatingCast(
      Percentile(*scratch, aggregator.percent, aggregator.estimation, std::less<>()));
}

}  // namespace hg::query
