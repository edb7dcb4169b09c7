// absent and absent_over_time: one series where there is none, labelled by what was looked for.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/promql/call.h"

namespace hg::query::promql {
namespace {

/// What the matchers say of the series that is not there: labels with one equality and nothing
/// else.
Labels LabelsLookedFor(const Expr& expr) {
  Labels labels;
  const auto* selector = expr.As<Selector>();
  if (selector == nullptr) return labels;
  std::set<std::string_view> said;
  for (const Matcher& matcher : selector->matchers) {
    if (matcher.label == kNameLabel) continue;
    if (matcher.kind == MatchKind::kEqual && said.insert(matcher.label).second) {
      labels.Set(matcher.label, matcher.value);
    } else {
      labels.Remove(matcher.label);
    }
  }
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
    size_t next = 0;  // the first sample that no earlier window has passed
    for (size_t i = 0; i < site.steps.count; ++i) {
      const int64_t end_ms = ranges.ends.At(i);
      while (next < series.times_ms.size() && series.times_ms[next] < end_ms - ranges.range_ms)
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
