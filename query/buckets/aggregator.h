#pragma once
// The aggregation functions (opentsdb-queries.md §5). An aggregation function reduces several
// values to one value: the values of one instant (when series are merged) or of one bucket (when a
// series is downsampled). The arithmetic is exactly that of the JVM: int64 wraps on overflow, and
// doubles are added in the given order.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hg::query {

/// The value that a series contributes at a time at which the series itself has no point, but
/// another series of its group has one.
enum class Interpolation : uint8_t { kLerp, kZero, kMax, kMin, kPrevious };

enum class Function : uint8_t {
  kSum,
  kMin,
  kMax,
  kAvg,
  kMedian,
  kMult,
  kDev,
  kDiff,
  kSquareSum,
  kCount,
  kFirst,
  kLast,
  kNone,
  kPercentile,
};

/// The method by which a percentile function finds the position of the percentile among sorted
/// integers (opentsdb-queries.md §5.2). Percentiles of doubles always use kLegacy (quirk Q9).
enum class Estimation : uint8_t { kLegacy, kR3, kR7 };

struct Aggregator {
  std::string_view name;
  Function function = Function::kSum;
  Interpolation interpolation = Interpolation::kLerp;
  /// The percentile to compute, 0 to 100; used only if `function` is kPercentile.
  double percent = 0;
  Estimation estimation = Estimation::kLegacy;
};

/// Finds an aggregator by its exact name. Returns nullptr if the name is unknown.
const Aggregator* FindAggregator(std::string_view name);

/// Computes the aggregate of doubles. `values` must not be empty. Each aggregation function has its
/// own treatment of NaN (opentsdb-queries.md §5). Functions that sort the values use `scratch` as
/// working memory.
double RunDouble(const Aggregator& aggregator, std::span<const double> values,
                 std::vector<double>* scratch);
/// Computes the same result as RunDouble, but uses `values` as working memory. The function may
/// reorder `values` and remove NaNs from it. `values` must not be empty.
double RunDoubleInPlace(const Aggregator& aggregator, std::vector<double>* values);
/// Computes the aggregate of integers. `values` must not be empty. `scratch` is working memory of
/// the function; its contents do not matter.
int64_t RunInt(const Aggregator& aggregator, std::span<const int64_t> values,
               std::vector<double>* scratch);

/// Converts a double to int64 as a Java cast does: rounds toward zero and returns 0 for NaN. For a
/// value outside the range of int64, returns the smallest or the largest int64.
int64_t SaturatingCast(double value);

}  // namespace hg::query
