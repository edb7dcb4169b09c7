#pragma once
// The times (steps) at which an expression is evaluated.

#include <cstddef>
#include <cstdint>

#include "query/promql/syntax.h"

namespace hg::query::promql {

/// A list of one or more evaluation times. An instant query has exactly one evaluation time. The
/// list is immutable.
struct Steps {
  int64_t start_ms = 0;
  int64_t step_ms = 0;  // distance of the times; 0 = all times are equal
  size_t count = 1;

  [[nodiscard]] int64_t At(size_t i) const { return start_ms + static_cast<int64_t>(i) * step_ms; }
  [[nodiscard]] int64_t end_ms() const { return At(count - 1); }
};

/// Times that apply to a whole query: the values of start() and end(), the lookback, and the step
/// of subqueries whose text has none.
struct QueryTimes {
  int64_t start_ms = 0, end_ms = 0;
  // The maximum age of samples: at an evaluation time, only samples that are younger than this are
  // used.
  int64_t lookback_ms = 5 * 60 * 1000;
  int64_t subquery_step_ms = 60 * 1000;  // the step of subqueries whose text has no step
};

/// Returns the times for which a selector or subquery reads samples when it is evaluated at
/// `steps`.
Steps Shifted(const Steps& steps, const TimeShift& shift, const QueryTimes& times);

/// Returns the times at which the inner expression of a subquery is evaluated. They are multiples
/// of the subquery's step, after the start of the first window and up to the end of the last
/// window. `ends` is the result of Shifted. If the result has a count of 0, there are no such
/// times.
Steps SubquerySteps(const Steps& ends, int64_t range_ms, int64_t step_ms);

}  // namespace hg::query::promql
