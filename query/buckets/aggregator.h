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

/// The value that a series contributes at an instant at which it has no point but another series of
/// the group has one.
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

/// The method by which a percentile finds its position among integers (opentsdb-queries.md §5.2).
/// Percentiles of doubles always use kLegacy (quirk Q9).
enum class Estimation : uint8_t { kLegacy, kR3, kR7 };

struct Aggregator {
  std::string_view name;
  Function function = Function::kSum;
  Interpolation interpolation = Interpolation::kLerp;
  double percent = 0;  // only for kPercentile
  Estimation estimation = Estimation::kLegacy;
};

/// Finds an aggregator by its exact name. Returns nullptr if the name is unknown.
const Aggregator* FindAggregator(std::string_view name);

/// Aggregates doubles; `values` is not empty. Each function treats NaN in its own way. Functions
/// that sort use `scratch` as working memory.
double RunDouble(const Aggregator& aggregator, std::span<const double> values,
                 std::vector<double>* scratch);
/// Like RunDouble, but needs no working memory: it may reorder `values` and remove NaNs.
double RunDoubleInPlace(const Aggregator& aggregator, std::vector<double>* values);
/// Aggregates integers; `values` is not empty. Functions that sort use `scratch` as working memory.
int64_t RunInt(const Aggregator& aggregator, std::span<const int64_t> values,
               std::vector<double>* scratch);

/// Converts like a Java cast: rounds toward zero, returns 0 for NaN, and saturates.
int64_t SaturatingCast(double value);

}  // namespace hg::query
