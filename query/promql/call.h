#pragma once
// The context of a function call during its evaluation. Declares the PromQL functions that are more
// than arithmetic on one number.

#include <string_view>

#include "query/promql/evaluator.h"

namespace hg::query::promql {

struct CallSite {
  const Call& call;
  size_t at;  // byte offset of the call in the expression
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

Result<Value> EvaluateRangeCall(const CallSite& site);  // defined in call_range.cc

// Each of these functions returns the implementation of the PromQL function `name`, or nullptr if
// the function is implemented elsewhere or does not exist.
CallFunction FindLabelFunction(std::string_view name);   // defined in call_labels.cc
CallFunction FindVectorFunction(std::string_view name);  // defined in call_vector.cc
CallFunction FindAbsentFunction(std::string_view name);  // defined in call_absent.cc

/// Replaces the value of each sample of `vector` by `compute(step, value)`; `step` is the index of
/// the step.
template <typename Compute>
Status ForEachSample(const Steps& steps, MemoryTally* tally, Value* vector, Compute compute) {
  for (VectorSeries& series : vector->vector) {
    RETURN_IF_ERROR(ForEachStep(steps.count, tally, [&](size_t i) {
      double& value = series.values[i];
      if (!IsAbsent(value)) value = compute(i, value);
    }));
  }
  return {};
}

}  // namespace hg::query::promql
