#include "query/promql/steps.h"

namespace hg::query::promql {
namespace {

/// Returns the first multiple of `unit` after `value`.
int64_t MultipleAfter(int64_t value, int64_t unit) {
  const int64_t rest = value % unit;
  return value - rest + (rest >= 0 ? unit : 0);
}

}  // namespace

Steps Shifted(const Steps& steps, const TimeShift& shift, const QueryTimes& times) {
  Steps out = steps;
  switch (shift.at) {
    case TimeShift::At::kNone:
      break;
    case TimeShift::At::kTime:
      out.start_ms = shift.at_ms;
      break;
    case TimeShift::At::kStart:
      out.start_ms = times.start_ms;
      break;
    case TimeShift::At::kEnd:
      out.start_ms = times.end_ms;
      break;
  }
  if (shift.at != TimeShift::At::kNone) out.step_ms = 0;
  out.start_ms -= shift.offset_ms.value_or(0);
  return out;
}

Steps SubquerySteps(const Steps& ends, int64_t range_ms, int64_t step_ms) {
  Steps out;
  out.start_ms = MultipleAfter(ends.start_ms - range_ms, step_ms);
  out.step_ms = step_ms;
  const int64_t last_ms = ends.end_ms();
  out.count =
      last_ms < out.start_ms ? 0 : static_cast<size_t>((last_ms - out.start_ms) / step_ms) + 1;
  return out;
}

}  // namespace hg::query::promql
