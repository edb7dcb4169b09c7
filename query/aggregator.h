#pragma once
// The 35 aggregation functions (spec query.md §5): how values of one instant (merging) or of one
// bucket (downsampling) become one. Exact arithmetic of the JVM: wrapping int64, doubles in the
// order given.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hg::query {

/// What stands in for a series that has no point at an instant at which others have one.
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

/// How a percentile finds its position among integers (§5.2). Doubles always use kLegacy (quirk
/// Q9).
enum class Estimation : uint8_t { kLegacy, kR3, kR7 };

struct Aggregator {
  std::string_view name;
  Function function = Function::kSum;
  Interpolation interpolation = Interpolation::kLerp;
  double percent = 0;  // kPercentile
  Estimation estimation = Estimation::kLegacy;
};

/// By exact name; nullptr if there is none.
const Aggregator* FindAggregator(std::string_view name);
/// All of them, in the order of the reference's table.
std::span<const Aggregator> Aggregators();

/// The double form; NaNs are treated as the function says. `scratch` is reused by functions that
/// sort.
double RunDouble(const Aggregator& aggregator, std::span<const double> values,
                 std::vector<double>* scratch);
/// The int64 form; at least one value.
int64_t RunInt(const Aggregator& aggregator, std::span<const int64_t> values,
               std::vector<double>* scratch);

/// Java's cast: toward zero, NaN is 0, saturating.
int64_t SaturatingCast(double value);

}  // namespace hg::query
