#pragma once
// Functions of a range vector. Each computes one number from the samples of a window.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "query/promql/sample_reader.h"

namespace hg::query::promql {

/// The samples of one series in (begin_ms, end_ms], at least one, and the scalar arguments of the
/// call.
struct Window {
  std::span<const int64_t> times_ms;
  std::span<const double> values;
  /// The number of points that each value stands for; the value is then their sum. Empty means one
  /// each. Set only for functions that need it (WindowCall::weighs).
  std::span<const double> counts;
  int64_t begin_ms = 0, end_ms = 0;
  int64_t now_ms = 0;            // the time of the step, without offset and @
  double first = 0, second = 0;  // scalar arguments, in their order

  [[nodiscard]] size_t size() const { return values.size(); }
};

/// Returns nullopt if the series has no result at this step.
using RangeFunction = std::optional<double> (*)(const Window&);

/// Returns nullptr if the name is not a function of a range vector. absent_over_time is not
/// included, because it needs all series together.
RangeFunction FindRangeFunction(std::string_view name);

/// Returns which value of a rollup interval the function needs if only rollups are left of its
/// points. Sums, counts and extremes are then exact, and an average is the sum divided by
/// Window::counts. Functions of counters get the maximum: the value of
/// the counter at the end, or before a reset. All other names, including functions of instant
/// vectors, get the mean.
RolledValue RolledValueFor(std::string_view name);

/// The straight line through samples by least squares: slope per second, and value at `origin_ms`.
struct Line {
  double slope = 0, intercept = 0;
};
Line FitLine(const Window& window, int64_t origin_ms);

}  // namespace hg::query::promql
