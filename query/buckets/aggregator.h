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
  double percent = 0;  // the percentile to compute; used only by the kind kPercentile
  Estimation estimation = Estimation::kLegacy;
};

/// Finds an aggregator by its exact name. Returns nullptr if the name is unknown.
const Aggregator* FindAggregator(std::string_view name);

/// Aggregates doubles; `values` must not be empty. How NaN is treated depends on the aggregation
/// function. Functions that sort the values use `scratch` as working memory.
double RunDouble(const Aggregator& aggregator, std::span<const double> values,
                 std::vector<double>* scratch);
/// Computes the same result as RunDouble, but without separate working memory: this function may
/// reorder `values` and remove NaNs from it.
double RunDoubleInPlace(const Aggregator& aggregator, std::vector<double>* values);
/// Aggregates integers; `values` must not be empty. Functions that sort the values use `scratch` as
/// working memory.
int64_t RunInt(const Aggregator& aggregator, std::span<const int64_t> values,
               std::vector<double>* scratch);

/// Converts a double to int64 as a Java cast does: rounds toward zero, returns 0 for NaN, and
/// returns the nearest int64 for values out of range.
int64_t SaturatingCast(double value);

}  // namespace hg::query
