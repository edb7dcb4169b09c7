#pragma once
// The times (steps) at which an expression is evaluated.

#include <cstddef>
#include <cstdint>

#include "query/promql/syntax.h"

namespace hg::query::promql {

/// A list of evaluation times. An instant query has exactly one evaluation time. The list is
/// immutable.
struct Steps {
  int64_t start_ms = 0;
  int64_t step_ms = 0;  // distance between two times; 0 = all times are equal
  size_t count = 1;

  [[nodiscard]] int64_t At(size_t i) const { return start_ms + static_cast<int64_t>(i) * step_ms; }
  [[nodiscard]] int64_t end_ms() const { return At(count - 1); }
};

/// Times that apply to a whole query: the values of the PromQL functions start() and end(), the
/// lookback, and the step of subqueries whose text has no step.
struct QueryTimes {
  int64_t start_ms = 0, end_ms = 0;
  // At an evaluation time, a selector uses only samples that are younger than this.
  int64_t lookback_ms = 5 * 60 * 1000;
  int64_t subquery_step_ms = 60 * 1000;  // the step of subqueries whose text has no step
};

/// Returns the times for which a selector or subquery reads samples if it is evaluated at `steps`
/// and has the modifiers `offset` and `@` in `shift`.
Steps Shifted(const Steps& steps, const TimeShift& shift, const QueryTimes& times);

/// Returns the times at which the inner expression of a subquery is evaluated. They are the
/// multiples of `step_ms` after the start of the first window and up to the end of the last window.
/// `ends` are the times at which the windows end (see Shifted). The count of the result may be 0.
Steps SubquerySteps(const Steps& ends, int64_t range_ms, int64_t step_ms);

}  // namespace hg::query::promql
