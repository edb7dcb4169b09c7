#pragma once
// Functions of a range vector: one number from the samples of a window. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "query/promql/sample_reader.h"

namespace hg::query::promql {

/// The samples of one series in [begin_ms, end_ms], at least one, and what the call says besides.
struct Window {
  std::span<const int64_t> times_ms;
  std::span<const double> values;
  /// How many points each value stands for, the sum of which it is then; empty: one. Of functions
  /// alone that ask for it (WindowCall::weighs).
  std::span<const double> counts;
  int64_t begin_ms = 0, end_ms = 0;
  int64_t now_ms = 0;            // the step, which offset and @ do not move
  double first = 0, second = 0;  // scalar arguments in their order

  [[nodiscard]] size_t size() const { return values.size(); }
};

/// None: the series has no result at this step.
using RangeFunction = std::optional<double> (*)(const Window&);

/// nullptr: it is no function of a range vector, or absent_over_time, which is of all series
/// together.
RangeFunction FindRangeFunction(std::string_view name);

/// What it wants of an interval of which rollups alone are left, as a single sample: what makes it
/// exact for sums and extremes, and for counters the greatest value, which is what they had come to
/// at the end, or before they fell. Any other name, functions of vectors too: the mean.
RolledValue RolledValueFor(std::string_view name);

/// The straight line through samples by least squares: per second, and its value at `origin_ms`.
struct Line {
  double slope = 0, intercept = 0;
};
Line FitLine(const Window& window, int64_t origin_ms);

}  // namespace hg::query::promql
