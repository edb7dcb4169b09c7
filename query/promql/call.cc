#include "query/promql/call.h"

#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "query/promql/date_functions.h"
#include "query/promql/function_table.h"
#include "query/promql/math_functions.h"
#include "query/promql/range_functions.h"
#include "query/promql/selection.h"

namespace hg::query::promql {
namespace {

/// A function of one number, over a vector.
template <typename Function>
Result<Value> Map(const CallSite& site, Function function) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  RETURN_IF_ERROR(ForEachSample(site.steps, &site.evaluator.memory(), &vector,
                                [&](size_t, double value) { return function(value); }));
  RETURN_IF_ERROR(DropNames(site.steps, &site.evaluator.memory(), &vector));
  return vector;
}

/// One series without labels, of what `at` gives for each step.
template <typename At>
Result<Value> OneSeries(const CallSite& site, At at) {
  VectorBuilder builder(site.steps, &site.evaluator.memory());
  ASSIGN_OR_RETURN(const size_t series, builder.SeriesOf({}));
  for (size_t i = 0; i < site.steps.count; ++i) builder.column(series)[i] = at(i);
  return builder.Take();
}

Result<Value> EvaluateDate(const CallSite& site, DateFunction function) {
  if (!site.call.arguments.empty()) return Map(site, function);
  return OneSeries(
      site, [&](size_t i) { return function(static_cast<double>(site.steps.At(i)) / 1000); });
}

Status CheckSmoothing(const Window& window) {
  for (const double factor : {window.first, window.second}) {
    if (!(factor > 0 && factor < 1)) {
      return Status::InvalidArgument("holt_winters smooths by factors between 0 and 1, not by " +
                                     std::to_string(factor));
    }
  }
  return {};
}

/// A function of windows: these slide over the samples of each series as steps go on.
class RangeCall {
 public:
  RangeCall(const CallSite& site, RangeFunction function) : site_(site), function_(function) {}

  Result<Value> Run() {
    const Call& call = site_.call;
    Evaluator::Ranges ranges;
    for (const ExprPtr& argument : call.arguments) {
      if (TypeOf(*argument) == ValueType::kMatrix) {
        ASSIGN_OR_RETURN(ranges, site_.evaluator.EvaluateRanges(*argument, site_.steps));
      } else {
        ASSIGN_OR_RETURN(Value scalar, site_.evaluator.Evaluate(*argument, site_.steps));
        scalars_.push_back(std::move(scalar));
      }
    }
    MemoryTally& tally = site_.evaluator.memory();
    Value out;
    out.type = ValueType::kVector;
    for (RangeSeries& from : ranges.matrix.matrix) {
      RETURN_IF_ERROR(HoldSeries(from.labels, site_.steps.count, &tally, &out.memory));
      VectorSeries to{std::move(from.labels), Column(site_.steps.count, Absent())};
      if (call.function->name != "last_over_time") to.labels.Remove(kNameLabel);
      RETURN_IF_ERROR(Slide(ranges, from, &to.values));
      out.vector.push_back(std::move(to));
    }
    RETURN_IF_ERROR(RefuseEqualSeries(out));
    return out;
  }

 private:
  Status Slide(const Evaluator::Ranges& ranges, const RangeSeries& from, Column* to) {
    const bool smooths = site_.call.function->name == "holt_winters";
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < site_.steps.count; ++i) {
      Window window;
      window.end_ms = ranges.ends.At(i);
      window.begin_ms = window.end_ms - ranges.range_ms;
      window.now_ms = site_.steps.At(i);
      while (end < from.times_ms.size() && from.times_ms[end] <= window.end_ms) ++end;
      while (begin < end && from.times_ms[begin] < window.begin_ms) ++begin;
      if (begin == end) continue;
      window.times_ms = std::span(from.times_ms).subspan(begin, end - begin);
      window.values = std::span(from.values).subspan(begin, end - begin);
      if (!scalars_.empty()) window.first = scalars_[0].scalar[i];
      if (scalars_.size() > 1) window.second = scalars_[1].scalar[i];
      if (smooths) RETURN_IF_ERROR(CheckSmoothing(window));
      RETURN_IF_ERROR(site_.evaluator.memory().Step(1 + window.size()));
      if (const std::optional<double> value = function_(window)) (*to)[i] = *value;
    }
    return {};
  }

  const CallSite& site_;
  const RangeFunction function_;
  std::vector<Value> scalars_;  // in the order of the arguments
};

/// Of a selector it gives the times of its samples, of anything else those of the steps.
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
  InstantSink sink(instants, lookback_ms, SampleShown::kTime, &evaluator.memory());
  RETURN_IF_ERROR(evaluator.reader().Read(selector->matchers, instants.start_ms - lookback_ms,
                                          instants.end_ms(), &sink));
  Value vector = sink.Finish();
  RETURN_IF_ERROR(DropNames(site.steps, &evaluator.memory(), &vector));
  return vector;
}

Result<Value> EvaluateVector(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value scalar, site.Evaluate(0));
  return OneSeries(site, [&](size_t i) { return scalar.scalar[i]; });
}

}  // namespace

Result<Value> EvaluateCall(const Call& call, const Steps& steps, Evaluator* evaluator) {
  const CallSite site{call, steps, *evaluator};
  const std::string_view name = call.function->name;
  if (const RangeFunction function = FindRangeFunction(name))
    return RangeCall(site, function).Run();
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
  return MakeScalar(steps.count, &evaluator->memory(),
                    [](size_t) { return std::numbers::pi; });  // pi()
}

}  // namespace hg::query::promql
