#pragma once
// Functions of a range vector. Each computes one number from the samples of a window.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "query/promql/sample_reader.h"

namespace hg::query::promql {

/// The argument of a range function: the samples of one series in (begin_ms, end_ms], at least one,
/// and the scalar arguments of the call.
struct Window {
  std::span<const int64_t> times_ms;
  std::span<const double> values;
  /// If the values are sums of several points, the number of points in each value. Empty means that
  /// each value is one point. Set only for functions that need it (WindowCall::weighs).
  std::span<const double> counts;
  int64_t begin_ms = 0, end_ms = 0;
  int64_t now_ms = 0;            // time of the step, without `offset` and `@`
  double first = 0, second = 0;  // scalar arguments of the call, in their order

  [[nodiscard]] size_t size() const { return values.size(); }
};

/// Computes the result of a range function for one window. Returns nullopt if the series has no
/// result at this step.
using RangeFunction = std::optional<double> (*)(const Window&);

/// Returns the function of a range vector with that name, or nullptr for other names. This excludes
/// absent_over_time, because it needs all series together.
RangeFunction FindRangeFunction(std::string_view name);

/// Returns the value of a rollup interval that the function needs if retention has deleted the raw
/// points of the interval. Sums, counts and extremes are exact then, and an average is the sum
/// divided by Window::counts. Functions of counters use the maximum, which is the value of the
/// counter at the end of the interval or before a reset. For all other names, including functions
/// of instant vectors, the result is the mean.
RolledValue RolledValueFor(std::string_view name);

/// A line fitted to samples by least squares: slope per second, and value at `origin_ms`.
struct Line {
  double slope = 0, intercept = 0;
};
Line FitLine(const Window& window, int64_t origin_ms);

}  // namespace hg::query::promql
