#pragma once
// Evaluates a PromQL function of a range vector at all steps of a query. From one step to the next,
// a window moves over the samples of a series.

#include <span>
#include <string_view>
#include <vector>

#include "query/promql/range_functions.h"
#include "query/promql/steps.h"
#include "query/promql/value.h"

namespace hg::query::promql {

/// Records how far the window of a function has moved over the samples of one series.
struct WindowPlace {
  size_t step = 0;  // index of the first step that has not been evaluated
  /// The window of the last evaluated step: the samples with the indices [begin, end).
  size_t begin = 0, end = 0;
};

/// A call of a range function, with the windows and the scalar arguments. The object is immutable.
class WindowCall {
 public:
  /// `name` is a function of a range vector. For step i of `steps`, the function gets the samples
  /// in the window that ends at time i of `ends` and has the length `range_ms`. `scalars` are the
  /// scalar arguments of the call, in their order.
  WindowCall(std::string_view name, const Steps& steps, const Steps& ends, int64_t range_ms,
             std::vector<Value> scalars);

  /// Evaluates the steps from place->step to step_end − 1, and stores the results in `*to`. The
  /// samples are `times_ms` and `values`. They must include all samples of the windows of these
  /// steps, but no stale markers. `*place` refers to samples by their indices. `counts` has the
  /// number of points for which each sample stands; if `counts` is empty, each sample is one point.
  ///
  /// InvalidArgument: the function does not accept a scalar argument. Also returns the errors of
  /// `tally`.
  Status Slide(std::span<const int64_t> times_ms, std::span<const double> values,
               std::span<const double> counts, size_t step_end, WindowPlace* place,
               MemoryTally* tally, Column* to) const;

  [[nodiscard]] const std::vector<Value>& scalars() const { return scalars_; }
  /// Returns which value of a rollup interval the function needs if the raw points of the interval
  /// were deleted.
  [[nodiscard]] RolledValue rolled_value() const { return rolled_value_; }
  /// Returns whether the function needs the number of points for which each sample stands.
  [[nodiscard]] bool weighs() const { return weighs_; }
  [[nodiscard]] size_t steps() const { return steps_.count; }
  /// Returns the start of the window of a step, in milliseconds. The window contains only samples
  /// that are later than this time.
  [[nodiscard]] int64_t begin_ms(size_t step) const { return ends_.At(step) - range_ms_; }
  /// Returns the first step whose window ends after `time_ms`.
  [[nodiscard]] size_t StepAfter(int64_t time_ms) const;

 private:
  [[nodiscard]] Window WindowAt(size_t step) const;

  const RangeFunction function_;
  const bool weighs_, smooths_;
  const bool sorts_;  // whether the function needs a sorted copy of each window
  const RolledValue rolled_value_;
  const Steps steps_, ends_;
  const int64_t range_ms_;
  const std::vector<Value> scalars_;
};

}  // namespace hg::query::promql
