#pragma once
// PromQL functions of a range vector. Each function computes one number from the samples of a
// window.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "query/promql/sample_reader.h"

namespace hg::query::promql {

/// The arguments of a range function: the samples of one series in (begin_ms, end_ms], of which
/// there is at least one, and the scalar arguments of the call.
struct Window {
  std::span<const int64_t> times_ms;
  std::span<const double> values;
  /// If each value is the sum of several points, this has the number of points in each value. An
  /// empty span means that each value is one point. Set only for functions that need the counts
  /// (WindowCall::weighs).
  std::span<const double> counts;
  int64_t begin_ms = 0, end_ms = 0;
  int64_t now_ms = 0;            // time of the step, not moved by `offset` or `@`
  double first = 0, second = 0;  // scalar arguments of the call, in the order of the call

  [[nodiscard]] size_t size() const { return values.size(); }
};

/// Computes the result of a range function for one window. Returns nullopt if the series has no
/// result for this window.
using RangeFunction = std::optional<double> (*)(const Window&);

/// Returns the range function with that name, or nullptr for other names. The function
/// absent_over_time is not included, because it needs all series together.
RangeFunction FindRangeFunction(std::string_view name);

/// Returns which value of a rollup interval the named function uses if retention has deleted the
/// raw points of the interval. With this value, sums, counts, minimums and maximums are exact, and
/// an average is the sum divided by Window::counts. Functions of counters use the maximum, which is
/// the value of the counter at the end of the interval or before a reset. For all other names,
/// including functions of instant vectors, the result is kMean.
RolledValue RolledValueFor(std::string_view name);

/// A line that was fitted to samples by the method of least squares: its slope per second, and its
/// value at `origin_ms`.
struct Line {
  double slope = 0, intercept = 0;
};
Line FitLine(const Window& window, int64_t origin_ms);

}  // namespace hg::query::promql
