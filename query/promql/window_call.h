#pragma once
// Evaluates a function of a range vector. A window slides over the samples of a series, from one
// step to the next.

#include <span>
#include <string_view>
#include <vector>

#include "query/promql/range_functions.h"
#include "query/promql/steps.h"
#include "query/promql/value.h"

namespace hg::query::promql {

/// How far the windows have moved over the samples of one series.
struct WindowPlace {
  size_t step = 0;            // the first step that was not evaluated yet
  size_t begin = 0, end = 0;  // the window of the previous step, as indices of samples
};

/// Immutable.
class WindowCall {
 public:
  /// `name` is a function of a range vector. For each step of `steps`, the function gets the
  /// samples of the window of length `range_ms` that ends at the instant with the same index in
  /// `ends`. `scalars` are the other arguments, in their order.
  WindowCall(std::string_view name, const Steps& steps, const Steps& ends, int64_t range_ms,
             std::vector<Value> scalars);

  /// Evaluates the steps before `step_end` and stores the results in `*to`. The samples must
  /// include those of all these windows, but no stale markers. `place` refers to samples by index.
  /// `counts` has the number of points in each sample; if it is empty, each sample is one point.
  /// InvalidArgument: the function does not accept a scalar. Also fails with errors of `tally`.
  Status Slide(std::span<const int64_t> times_ms, std::span<const double> values,
               std::span<const double> counts, size_t step_end, WindowPlace* place,
               MemoryTally* tally, Column* to) const;

  [[nodiscard]] const std::vector<Value>& scalars() const { return scalars_; }
  /// Returns the kind of value of a rollup interval that the function needs.
  [[nodiscard]] RolledValue rolled_value() const { return rolled_value_; }
  /// Returns whether the function needs the number of points in each sample.
  [[nodiscard]] bool weighs() const { return weighs_; }
  [[nodiscard]] size_t steps() const { return steps_.count; }
  /// Returns the begin of the window of a step. The window does not contain a sample at this time,
  /// only later samples.
  [[nodiscard]] int64_t begin_ms(size_t step) const { return ends_.At(step) - range_ms_; }
  /// Returns the first step whose window ends after `time_ms`.
  [[nodiscard]] size_t StepAfter(int64_t time_ms) const;

 private:
  [[nodiscard]] Window WindowAt(size_t step) const;

  const RangeFunction function_;
  const bool weighs_, smooths_;
  const bool sorts_;  // whether the function sorts a copy of each window
  const RolledValue rolled_value_;
  const Steps steps_, ends_;
  const int64_t range_ms_;
  const std::vector<Value> scalars_;
};

}  // namespace hg::query::promql
