// Functions of a range vector: of a selector's samples as they are read, of a subquery's when all
// of it is evaluated.

#include <string_view>
#include <utility>
#include <vector>

#include "query/promql/call.h"
#include "query/promql/function_table.h"
#include "query/promql/window_call.h"
#include "query/promql/window_sink.h"

namespace hg::query::promql {
namespace {

Result<Value> OfSelector(const CallSite& site, const Selector& selector,
                         std::vector<Value> scalars) {
  Evaluator& evaluator = site.evaluator;
  const Steps ends = Shifted(site.steps, selector.shift, evaluator.times());
  const WindowCall call(site.call.function->name, site.steps, ends, selector.range_ms,
                        std::move(scalars));
  WindowSink sink(call, evaluator.watch(), &evaluator.memory());
  RETURN_IF_ERROR(evaluator.reader().Read(selector.matchers, ends.start_ms - selector.range_ms,
                                          ends.end_ms(), &sink));
  return sink.Finish();
}

Result<Value> OfRanges(const CallSite& site, Evaluator::Ranges ranges, std::vector<Value> scalars) {
  MemoryTally& tally = site.evaluator.memory();
  const WindowCall call(site.call.function->name, site.steps, ranges.ends, ranges.range_ms,
                        std::move(scalars));
  Value out;
  out.type = ValueType::kVector;
  for (RangeSeries& from : ranges.matrix.matrix) {
    RETURN_IF_ERROR(HoldSeries(from.labels, site.steps.count, &tally, &out.memory));
    VectorSeries to{std::move(from.labels), Column(site.steps.count, Absent())};
    if (!call.keeps_name()) to.labels.Remove(kNameLabel);
    WindowPlace place;
    RETURN_IF_ERROR(
        call.Slide(from.times_ms, from.values, {}, site.steps.count, &place, &tally, &to.values));
    out.vector.push_back(std::move(to));
  }
  return out;
}

}  // namespace

Result<Value> EvaluateRangeCall(const CallSite& site) {
  const Expr* windows = nullptr;
  std::vector<Value> scalars;
  for (const ExprPtr& argument : site.call.arguments) {
    if (TypeOf(*argument) == ValueType::kMatrix) {
      windows = argument.get();
    } else {
      ASSIGN_OR_RETURN(Value scalar, site.evaluator.Evaluate(*argument, site.steps));
      scalars.push_back(std::move(scalar));
    }
  }
  Value out;
  if (const auto* selector = windows->As<Selector>()) {
    ASSIGN_OR_RETURN(out, OfSelector(site, *selector, std::move(scalars)));
  } else {
    ASSIGN_OR_RETURN(Evaluator::Ranges ranges, site.evaluator.EvaluateRanges(*windows, site.steps));
    ASSIGN_OR_RETURN(out, OfRanges(site, std::move(ranges), std::move(scalars)));
  }
  RETURN_IF_ERROR(RefuseEqualSeries(out));
  return out;
}

}  // namespace hg::query::promql
