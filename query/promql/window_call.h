#pragma once
// A function of range vectors while it is evaluated: windows slide over the samples of a series as
// steps go on.

#include <span>
#include <string_view>
#include <vector>

#include "query/promql/average.h"
#include "query/promql/range_functions.h"
#include "query/promql/steps.h"
#include "query/promql/value.h"

namespace hg::query::promql {

/// How far the windows over the samples of one series have come.
struct WindowPlace {
  size_t step = 0;            // the first that is not evaluated
  size_t begin = 0, end = 0;  // of the samples: the window before
};

/// Immutable.
class WindowCall {
 public:
  /// `name`: a range function. The windows of `range_ms` that end at `ends` are of the results at
  /// `steps`. `scalars`: the other arguments in their order.
  WindowCall(std::string_view name, const Steps& steps, const Steps& ends, int64_t range_ms,
             std::vector<Value> scalars);

  /// Evaluates the steps before `step_end`. The samples are those of these windows at least,
  /// without stale markers; the place is in them. `counts`: of the points that they stand for;
  /// empty: one each. InvalidArgument: a scalar that the function does
  /// not take. Others from the tally's watch.
  Status Slide(std::span<const int64_t> times_ms, std::span<const double> values,
               std::span<const double> counts, size_t step_end, WindowPlace* place,
               MemoryTally* tally, Column* to) const;

  /// What it wants of rolled-up intervals.
  [[nodiscard]] RolledValue rolled_value() const { return rolled_value_; }
  /// It asks how many points a sample stands for.
  [[nodiscard]] bool weighs() const { return averages_ || counts_; }

  [[nodiscard]] bool keeps_name() const { return keeps_name_; }
  [[nodiscard]] size_t steps() const { return steps_.count; }
  [[nodiscard]] int64_t begin_ms(size_t step) const { return ends_.At(step) - range_ms_; }
  /// The step behind those whose windows end no later.
  [[nodiscard]] size_t StepAfter(int64_t time_ms) const;
  /// Steps that are better evaluated together.
  [[nodiscard]] size_t steps_at_once() const { return averages_ ? kAveragesAtOnce : 1; }

 private:
  [[nodiscard]] Window WindowAt(size_t step) const;

  const RangeFunction function_;
  const bool averages_, counts_, smooths_, keeps_name_;
  const RolledValue rolled_value_;
  const Steps steps_, ends_;
  const int64_t range_ms_;
  const std::vector<Value> scalars_;
};

}  // namespace hg::query::promql
