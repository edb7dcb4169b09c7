#pragma once
// A call while it is evaluated, and the functions that are more than arithmetic on one number.

#include <string_view>

#include "query/promql/evaluator.h"

namespace hg::query::promql {

struct CallSite {
  const Call& call;
  const Steps& steps;
  Evaluator& evaluator;

  [[nodiscard]] const Expr& argument(size_t i) const { return *call.arguments[i]; }
  [[nodiscard]] Result<Value> Evaluate(size_t i) const {
    return evaluator.Evaluate(argument(i), steps);
  }
  [[nodiscard]] const std::string& text(size_t i) const {
    return argument(i).As<StringLiteral>()->value;
  }
};

using CallFunction = Result<Value> (*)(const CallSite&);

/// A function of a range vector.
Result<Value> EvaluateRangeCall(const CallSite& site);  // call_range.cc

// nullptr: it is none of them.
CallFunction FindLabelFunction(std::string_view name);   // call_labels.cc
CallFunction FindVectorFunction(std::string_view name);  // call_vector.cc
CallFunction FindAbsentFunction(std::string_view name);  // call_absent.cc

/// Applies `compute(step, value)` to each sample of a vector.
template <typename Compute>
Status ForEachSample(const Steps& steps, MemoryTally* tally, Value* vector, Compute compute) {
  for (VectorSeries& series : vector->vector) {
    RETURN_IF_ERROR(tally->Step(steps.count));
    for (size_t i = 0; i < steps.count; ++i) {
      double& value = series.values[i];
      if (!IsAbsent(value)) value = compute(i, value);
    }
  }
  return {};
}

}  // namespace hg::query::promql
