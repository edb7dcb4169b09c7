// Evaluates functions of a range vector. Samples of a selector are processed while they are read. A
// subquery is evaluated completely before the function.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/promql/call.h"
#include "query/promql/function_table.h"
#include "query/promql/quantile.h"
#include "query/promql/window_call.h"
#include "query/promql/window_sink.h"

namespace hg::query::promql {
namespace {

/// Returns whether the name ends like the name of a counter. Functions of counters add an
/// annotation if a name does not.
bool IsCounterName(std::string_view name) {
  return name.ends_with("_total") || name.ends_with("_sum") || name.ends_with("_count") ||
         name.ends_with("_bucket");
}

bool IsEmpty(const VectorSeries& series) {
  return std::all_of(series.values.begin(), series.values.end(), IsAbsent);
}

/// Adds annotations about a result. The series of the result must still have their metric names.
Status Annotate(const CallSite& site, const Value& result, const std::vector<Value>& scalars) {
  const std::string_view name = site.call.function->name;
  // For a subquery, Prometheus reports this annotation at position 0.
  const bool subquery = site.argument(0).As<Subquery>() != nullptr;
  Annotations& annotations = site.evaluator.annotations();
  MemoryTally& tally = site.evaluator.memory();
  if (name == "rate" || name == "increase") {
    for (const VectorSeries& series : result.vector) {
      const std::string_view metric = series.labels.Get(kNameLabel);
      RETURN_IF_ERROR(tally.Step(1 + metric.size() / 16));
      if (metric.empty() || IsCounterName(metric)) continue;
      annotations.Add(Remark::kInfo, subquery ? 0 : site.argument(0).at,
                      "metric might not be a counter, name does not end in "
                      "_total/_sum/_count/_bucket: " +
                          Quoted(metric));
    }
  }
  if (name == "quantile_over_time") {
    MemoryHold held;
    RETURN_IF_ERROR(held.Add(&tally, static_cast<int64_t>(site.steps.count * sizeof(double))));
    Column used(site.steps.count, 0);  // the φ of each step that has results
    for (const VectorSeries& series : result.vector) {
      RETURN_IF_ERROR(tally.Step(site.steps.count));
      for (size_t i = 0; i < site.steps.count; ++i) {
        if (!IsAbsent(series.values[i])) used[i] = scalars[0].scalar[i];
      }
    }
    return CheckQuantiles(used, site.argument(0).at, &annotations, &tally);
  }
  return {};
}

Result<Value> OfSelector(const CallSite& site, const Selector& selector,
                         std::vector<Value> scalars) {
  Evaluator& evaluator = site.evaluator;
  const Steps ends = Shifted(site.steps, selector.shift, evaluator.times());
  const WindowCall call(site.call.function->name, site.steps, ends, selector.range_ms,
                        std::move(scalars));
  WindowSink sink(call, evaluator.watch(), &evaluator.memory());
  RETURN_IF_ERROR(evaluator.reader().Read(selector.matchers, ends.start_ms - selector.range_ms,
                                          ends.end_ms(), &sink));
  ASSIGN_OR_RETURN(Value out, sink.Finish());
  RETURN_IF_ERROR(Annotate(site, out, call.scalars()));
  return out;
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
    WindowPlace place;
    RETURN_IF_ERROR(
        call.Slide(from.times_ms, from.values, {}, site.steps.count, &place, &tally, &to.values));
    if (!IsEmpty(to)) out.vector.push_back(std::move(to));
  }
  RETURN_IF_ERROR(Annotate(site, out, call.scalars()));
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
  const std::string_view name = site.call.function->name;
  if (name != "last_over_time" && name != "first_over_time") {
    for (VectorSeries& series : out.vector) series.labels.RemoveName();
  }
  RETURN_IF_ERROR(RefuseEqualSeries(out, &site.evaluator.memory()));
  return out;
}

}  // namespace hg::query::promql
