#pragma once
// PromQL functions of a range vector. Each function computes one number from the samples in a
// window.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "query/promql/sample_reader.h"

namespace hg::query::promql {

/// The arguments of a range function. They are the samples of one series in (begin_ms, end_ms], and
/// the scalar arguments of the call. There is at least one sample.
struct Window {
  std::span<const int64_t> times_ms;
  std::span<const double> values;
  /// The number of points for which each value stands, if some values come from rollup intervals.
  /// An empty span means that each value is one point. Set only for functions that need the counts
  /// (WindowCall::weighs).
  std::span<const double> counts;
  int64_t begin_ms = 0, end_ms = 0;
  int64_t now_ms = 0;            // time of the step; `offset` and `@` do not change it
  double first = 0, second = 0;  // scalar arguments of the call, in the order of the call

  [[nodiscard]] size_t size() const { return values.size(); }
};

/// Computes the result of a range function for one window. Returns nullopt if the series has no
/// result for this window.
using RangeFunction = std::optional<double> (*)(const Window&);

/// Returns the range function `name`, or nullptr for other names. The function absent_over_time is
/// not included, because it needs all series at once.
RangeFunction FindRangeFunction(std::string_view name);

/// Returns which value of a rollup interval the function `name` uses if retention has deleted the
/// raw points of the interval. With this value, sums, counts, minimums and maximums are exact. An
/// average is exact as well: it is the sum divided by the number of points (Window::counts).
/// Functions of counters use the maximum. The maximum is the value of the counter at the end of the
/// interval, or before a reset. For all other names, including functions of instant vectors, the
/// result is kMean.
RolledValue RolledValueFor(std::string_view name);

/// A line that was fitted to the samples of a window by the method of least squares. `slope` is the
/// slope per second. `intercept` is the value of the line at the time `origin_ms` of FitLine.
struct Line {
  double slope = 0, intercept = 0;
};
Line FitLine(const Window& window, int64_t origin_ms);

}  // namespace hg::query::promql
