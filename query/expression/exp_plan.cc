#include "query/expression/exp_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "query/buckets/aggregator.h"
#include "query/expression/limits.h"
#include "query/plan/filter.h"
#include "query/time/time_text.h"
#include "storage/model/name_text.h"
#include "storage/model/utf8.h"

namespace hg::query {
namespace {

// Approximate memory of a planned metric, expression or output, and of a compiled expression per
// byte of its text.
constexpr size_t kPlannedBytes = 1024, kCompiledBytesPerByte = 64;

Status Invalid(std::string message) { return Status::InvalidArgument(std::move(message)); }

// Returns whether the text has only ASCII digits, and letters of any script.
bool IsAlphanumeric(std::string_view text) {
  bool valid = true;
  while (valid && !text.empty()) {
    const char32_t c = TakeCodePoint(&text, &valid);
    if (!(c >= '0' && c <= '9') && !IsUnicodeLetter(c)) return false;
  }
  return valid;
}

Status CheckId(const std::optional<std::string>& id, std::string_view what) {
  if (Empty(id)) return Invalid("Missing the id of a " + std::string(what));
  bool valid = IsAlphanumeric(*id);
  if (id->size() == 1 && (*id)[0] <= '9') valid = false;
  if (valid) return {};
  return Invalid("The id '" + *id + "' of a " + std::string(what) +
                 " must be letters and digits, and more than one digit");
}

// Checks the name of an aggregator. OpenTSDB also looks up the name in lower case. So it refuses
// squareSum, although that is an aggregator.
Status CheckAggregator(const std::string& name) {
  if (FindAggregator(name) != nullptr && FindAggregator(LowerUtf8(name)) != nullptr) return {};
  return Invalid("No such aggregation function: " + name);
}

Status CheckTime(const std::optional<ExpTime>& time) {
  if (!time) return Invalid("Missing time");
  if (Empty(time->start)) return Invalid("Missing the start of the time");
  if (Empty(time->aggregator)) return Invalid("Missing the aggregator of the time");
  RETURN_IF_ERROR(CheckAggregator(*time->aggregator));
  if (!time->downsampler) return {};
  if (Empty(time->downsampler->interval)) return Invalid("Missing the interval of the downsampler");
  if (Empty(time->downsampler->aggregator)) {
    return Invalid("Missing the aggregator of the downsampler");
  }
  RETURN_IF_ERROR(ParseDuration(*time->downsampler->interval).status());
  return CheckAggregator(*time->downsampler->aggregator);
}

using FiltersById = std::map<std::string_view, const ExpFilter*>;

// Compiles the filters. The later validation of the plan's query uses the same compiled filters.
Result<FiltersById> CheckFilters(const ExpRequest& request, FilterSet* compiled) {
  FiltersById by_id;
  if (!request.filters) return by_id;
  for (const ExpFilter& filter : *request.filters) {
    RETURN_IF_ERROR(CheckId(filter.id, "filter"));
    if (!by_id.emplace(*filter.id, &filter).second)
      return Invalid("Duplicated filter id: " + *filter.id);
    for (const FilterSpec& tag : filter.tags) RETURN_IF_ERROR(compiled->Get(tag).status());
  }
  return by_id;
}

Result<SubQuery> PlanMetric(const ExpRequest& request, const FiltersById& filters,
                            const ExpMetric& metric) {
  SubQuery out;
  const ExpTime& time = *request.time;
  if (metric.aggregator) {
    if (metric.aggregator->empty()) return Invalid("Missing the aggregation function");
    RETURN_IF_ERROR(CheckAggregator(*metric.aggregator));
  }
  out.aggregator = metric.aggregator ? metric.aggregator : time.aggregator;
  out.metric = metric.metric;
  out.rate = time.rate;
  if (time.downsampler) {
    out.downsample = *time.downsampler->interval + "-" + *time.downsampler->aggregator;
  }
  if (Empty(metric.filter)) return out;
  const auto found = filters.find(*metric.filter);
  if (found == filters.end()) {
    return Invalid("No filter '" + *metric.filter + "', which the metric '" + *metric.id +
                   "' names");
  }
  const ExpFilter* const filter = found->second;
  if (filter->tags_missing) return Invalid("The filter '" + *metric.filter + "' has no tags");
  out.filters = filter->tags;
  out.explicit_tags = filter->explicit_tags;
  return out;
}

Status PlanOutputs(const ExpRequest& request, const std::set<std::string>& ids,
                   RequestContext& context, ExpPlan* plan) {
  if (request.outputs && !request.outputs->empty()) {
    if (request.outputs->size() > kExpressionIdsMax)
      return Invalid("More than " + std::to_string(kExpressionIdsMax) + " outputs");
    for (const ExpOutput& output : *request.outputs) {
      const size_t text = output.alias ? output.alias->size() : 0;
      RETURN_IF_ERROR(context.Step(kFilterSteps));
      RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(kPlannedBytes + 2 * text)));
      if (output.id && ids.contains(*output.id))
        plan->outputs.push_back({*output.id, output.alias});
    }
    return {};
  }
  for (const PlannedExpression& e : plan->expressions) plan->outputs.push_back({e.id, {}});
  if (!plan->expressions.empty()) return {};
  for (const PlannedMetric& m : plan->metrics) plan->outputs.push_back({m.id, {}});
  return {};
}

}  // namespace

Result<ExpPlan> PlanExpressions(const ExpRequest& request, RequestContext& context,
                                FilterSet* compiled) {
  RETURN_IF_ERROR(CheckTime(request.time));
  FilterSet own(context);
  ASSIGN_OR_RETURN(const FiltersById filters,
                   CheckFilters(request, compiled != nullptr ? compiled : &own));
  if (request.metrics.empty()) return Invalid("Missing or empty metrics");
  size_t expression_count = request.expressions ? request.expressions->size() : 0;
  if (request.metrics.size() + expression_count > kExpressionIdsMax) {
    return Invalid("More than " + std::to_string(kExpressionIdsMax) + " metrics and expressions");
  }
  ExpPlan plan;
  plan.request.start = *request.time->start;
  plan.request.end = request.time->end;
  plan.request.timezone = request.time->timezone;
  plan.request.no_annotations = true;
  std::set<std::string> ids;
  for (const ExpMetric& metric : request.metrics) {
    RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(kPlannedBytes)));
    RETURN_IF_ERROR(CheckId(metric.id, "metric"));
    if (Empty(metric.metric)) return Invalid("Missing the name of the metric '" + *metric.id + "'");
    if (!Empty(metric.time_offset)) {  // must be a valid time, but is not used
      const Status time = ParseTime(*metric.time_offset, 0, TimeZone()).status();
      if (!time.ok())
        return Invalid("The timeOffset of '" + *metric.id + "': " + std::string(time.message()));
    }
    if (!ids.insert(*metric.id).second) return Invalid("Duplicated id: " + *metric.id);
    ASSIGN_OR_RETURN(SubQuery query, PlanMetric(request, filters, metric));
    plan.request.queries.push_back(std::move(query));
    plan.metrics.push_back({*metric.id, metric.fill ? metric.fill->value : 0.0});
  }
  if (request.expressions) {
    for (const ExpExpression& expression : *request.expressions) {
      RETURN_IF_ERROR(CheckId(expression.id, "expression"));
      if (Empty(expression.expr)) {
        return Invalid("Missing the text of the expression '" + *expression.id + "'");
      }
      if (!ids.insert(*expression.id).second) return Invalid("Duplicated id: " + *expression.id);
      const size_t text = std::min(expression.expr->size(), kExpressionBytesMax);
      RETURN_IF_ERROR(context.Step(kFilterSteps + text));
      RETURN_IF_ERROR(
          context.Charge(static_cast<int64_t>(kPlannedBytes + kCompiledBytesPerByte * text)));
      ASSIGN_OR_RETURN(Program program, CompileExpression(*expression.expr));
      plan.expressions.push_back({*expression.id, std::move(program), expression.join});
    }
  }
  for (const PlannedExpression& expression : plan.expressions) {
    RETURN_IF_ERROR(context.Step(expression.program.variables.size() * kTextBytesPerStep));
    for (const std::string& variable : expression.program.variables) {
      if (!ids.contains(variable)) {
        return Invalid("The expression '" + expression.id + "' uses '" + variable +
                       "', which is neither a metric nor an expression");
      }
    }
  }
  RETURN_IF_ERROR(PlanOutputs(request, ids, context, &plan));
  return plan;
}

}  // namespace hg::query
