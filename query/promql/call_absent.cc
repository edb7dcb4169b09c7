// The PromQL functions absent and absent_over_time. They return one series, which has samples at
// the steps at which the argument has none. The labels of the series come from the matchers.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "query/promql/call.h"

namespace hg::query::promql {
namespace {

/// Returns the labels whose values the matchers determine. Each of these labels has exactly one
/// matcher, which is an equality matcher.
Labels LabelsLookedFor(const Expr& expr) {
  const auto* selector = expr.As<Selector>();
  if (selector == nullptr) return {};
  // The value of the label's first equality matcher, or "" if another matcher of the label follows.
  struct Said {
    bool any = false;
    std::string_view value;
  };
  std::map<std::string_view, Said> said;
  for (const Matcher& matcher : selector->matchers) {
    if (matcher.label == kNameLabel) continue;
    Said& of_label = said[matcher.label];
    const bool first = matcher.kind == MatchKind::kEqual && !std::exchange(of_label.any, true);
    of_label.value = first ? std::string_view(matcher.value) : std::string_view();
  }
  std::vector<Labels::Pair> pairs;
  for (const auto& [label, of_label] : said) pairs.emplace_back(label, of_label.value);
  Labels labels(std::move(pairs));
  labels.RemoveName();
  return labels;
}

Result<Value> OneWhereNot(const CallSite& site, const std::vector<bool>& found) {
  VectorBuilder builder(site.steps, &site.evaluator.memory());
  if (std::find(found.begin(), found.end(), false) == found.end()) return builder.Take();
  ASSIGN_OR_RETURN(const size_t series, builder.SeriesOf(LabelsLookedFor(site.argument(0))));
  for (size_t i = 0; i < site.steps.count; ++i) {
    if (!found[i]) builder.column(series)[i] = 1;
  }
  return builder.Take();
}

Result<Value> IsAbsentNow(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value vector, site.Evaluate(0));
  RETURN_IF_ERROR(site.evaluator.memory().Step(site.steps.count));
  std::vector<bool> found(site.steps.count);
  for (const VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(site.evaluator.memory().Step(site.steps.count));
    for (size_t i = 0; i < site.steps.count; ++i)
      found[i] = found[i] || !IsAbsent(series.values[i]);
  }
  return OneWhereNot(site, found);
}

Result<Value> IsAbsentOverTime(const CallSite& site) {
  ASSIGN_OR_RETURN(const Evaluator::Ranges ranges,
                   site.evaluator.EvaluateRanges(site.argument(0), site.steps));
  RETURN_IF_ERROR(site.evaluator.memory().Step(site.steps.count));
  std::vector<bool> found(site.steps.count);
  for (const RangeSeries& series : ranges.matrix.matrix) {
    RETURN_IF_ERROR(site.evaluator.memory().Step(site.steps.count + series.values.size()));
    size_t next = 0;  // the first sample after the start of the last window
    for (size_t i = 0; i < site.steps.count; ++i) {
      const int64_t end_ms = ranges.ends.At(i);
      while (next < series.times_ms.size() && series.times_ms[next] <= end_ms - ranges.range_ms)
        ++next;
      found[i] = found[i] || (next < series.times_ms.size() && series.times_ms[next] <= end_ms);
    }
  }
  return OneWhereNot(site, found);
}

}  // namespace

CallFunction FindAbsentFunction(std::string_view name) {
  if (name == "absent") return IsAbsentNow;
  if (name == "absent_over_time") return IsAbsentOverTime;
  return nullptr;
}

}  // namespace hg::query::promql
