#pragma once
// The instants that an expression is evaluated at.

#include <cstddef>
#include <cstdint>

#include "query/promql/syntax.h"

namespace hg::query::promql {

/// `count` ≥ 1 instants; those of an instant query are one. Immutable value.
struct Steps {
  int64_t start_ms = 0;
  int64_t step_ms = 0;  // 0: all are the same instant
  size_t count = 1;

  [[nodiscard]] int64_t At(size_t i) const { return start_ms + static_cast<int64_t>(i) * step_ms; }
  [[nodiscard]] int64_t end_ms() const { return At(count - 1); }
};

/// Whole queries: what start() and end() mean, and what nobody writes down in a query.
struct QueryTimes {
  int64_t start_ms = 0, end_ms = 0;
  int64_t lookback_ms = 5 * 60 * 1000;   // a sample counts so long
  int64_t subquery_step_ms = 60 * 1000;  // of subqueries that name none
};

/// The instants that a selector or subquery looks at when it is evaluated at `steps`.
Steps Shifted(const Steps& steps, const TimeShift& shift, const QueryTimes& times);

/// The instants that the inner expression of a subquery is evaluated at: whole multiples of its
/// step, from the first window's begin to the last window's end. `ends` as Shifted gives them; a
/// count of 0: there are none.
Steps SubquerySteps(const Steps& ends, int64_t range_ms, int64_t step_ms);

}  // namespace hg::query::promql
