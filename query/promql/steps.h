#pragma once
// The instants at which an expression is evaluated.

#include <cstddef>
#include <cstdint>

#include "query/promql/syntax.h"

namespace hg::query::promql {

/// A list of one or more instants. An instant query has exactly one. Immutable.
struct Steps {
  int64_t start_ms = 0;
  int64_t step_ms = 0;  // 0 = all instants are equal
  size_t count = 1;

  [[nodiscard]] int64_t At(size_t i) const { return start_ms + static_cast<int64_t>(i) * step_ms; }
  [[nodiscard]] int64_t end_ms() const { return At(count - 1); }
};

/// Times of a whole query: the values of start() and end(), and defaults that the query text does
/// not contain.
struct QueryTimes {
  int64_t start_ms = 0, end_ms = 0;
  // An instant uses only samples that are younger than this.
  int64_t lookback_ms = 5 * 60 * 1000;
  int64_t subquery_step_ms = 60 * 1000;  // the step of subqueries without their own step
};

/// Returns the instants at which a selector or subquery reads when it is evaluated at `steps`.
Steps Shifted(const Steps& steps, const TimeShift& shift, const QueryTimes& times);

/// Returns the instants at which the inner expression of a subquery is evaluated. They are
/// multiples of its step, after the begin of the first window and up to the end of the last one.
/// `ends` comes from Shifted. A count of 0 means that there are no instants.
Steps SubquerySteps(const Steps& ends, int64_t range_ms, int64_t step_ms);

}  // namespace hg::query::promql
