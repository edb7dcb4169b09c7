#include "query/promql/call.h"

#include <numbers>
#include <string>
#include <utility>

#include "query/promql/date_functions.h"
#include "query/promql/function_table.h"
#include "query/promql/math_functions.h"
#include "query/promql/range_functions.h"
#include "query/promql/selection.h"

namespace hg::query::promql {
namespace {

/// Applies a function of one number to a vector.
template <typename Function>
Result<Value> Map(const CallSite& site, Function function) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  RETURN_IF_ERROR(ForEachSample(site.steps, &site.evaluator.memory(), &vector,
                                [&](size_t, double value) { return function(value); }));
  RETURN_IF_ERROR(DropNames(site.steps, &site.evaluator.memory(), &vector));
  return vector;
}

/// Returns one series without labels whose values are the results of `at` for each step.
template <typename At>
Result<Value> OneSeries(const CallSite& site, At at) {
  VectorBuilder builder(site.steps, &site.evaluator.memory());
  ASSIGN_OR_RETURN(const size_t series, builder.SeriesOf({}));
  Column& to = builder.column(series);
  RETURN_IF_ERROR(
      ForEachStep(site.steps.count, &site.evaluator.memory(), [&](size_t i) { to[i] = at(i); }));
  return builder.Take();
}

Result<Value> EvaluateDate(const CallSite& site, DateFunction function) {
  if (!site.call.arguments.empty()) return Map(site, function);
  return OneSeries(
      site, [&](size_t i) { return function(static_cast<double>(site.steps.At(i)) / 1000); });
}

/// Returns the times of the samples if the argument is a selector, else the times of the steps.
Result<Value> Timestamp(const CallSite& site) {
  Evaluator& evaluator = site.evaluator;
  const auto* selector = site.argument(0).As<Selector>();
  if (selector == nullptr) {
    ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
    RETURN_IF_ERROR(ForEachSample(site.steps, &evaluator.memory(), &vector, [&](size_t i, double) {
      return static_cast<double>(site.steps.At(i)) / 1000;
    }));
    RETURN_IF_ERROR(DropNames(site.steps, &evaluator.memory(), &vector));
    return vector;
  }
  const Steps instants = Shifted(site.steps, selector->shift, evaluator.times());
  const int64_t lookback_ms = evaluator.times().lookback_ms;
  InstantSink sink(instants, lookback_ms, SampleShown::kTime, evaluator.watch(),
                   &evaluator.memory());
  RETURN_IF_ERROR(evaluator.reader().Read(selector->matchers, instants.start_ms - lookback_ms,
                                          instants.end_ms(), &sink));
  ASSIGN_OR_RETURN(Value vector, sink.Finish());
  RETURN_IF_ERROR(DropNames(site.steps, &evaluator.memory(), &vector));
  return vector;
}

Result<Value> EvaluateVector(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value scalar, site.Evaluate(0));
  return OneSeries(site, [&](size_t i) { return scalar.scalar[i]; });
}

}  // namespace

Result<Value> EvaluateCall(const Call& call, size_t at, const Steps& steps, Evaluator* evaluator) {
  const CallSite site{call, at, steps, *evaluator};
  const std::string_view name = call.function->name;
  if (FindRangeFunction(name) != nullptr) return EvaluateRangeCall(site);
  if (const MathFunction function = FindMathFunction(name)) return Map(site, function);
  if (const DateFunction function = FindDateFunction(name)) return EvaluateDate(site, function);
  for (const auto find : {FindLabelFunction, FindVectorFunction, FindAbsentFunction}) {
    if (const CallFunction function = find(name)) return function(site);
  }
  if (name == "timestamp") return Timestamp(site);
  if (name == "vector") return EvaluateVector(site);
  if (name == "time") {
    return MakeScalar(steps.count, &evaluator->memory(),
                      [&](size_t i) { return static_cast<double>(steps.At(i)) / 1000; });
  }
  if (name == "pi") {
    return MakeScalar(steps.count, &evaluator->memory(), [](size_t) { return std::numbers::pi; });
  }
  return Status::Unsupported("the function " + std::string(name) + " has no implementation");
}

}  // namespace hg::query::promql
