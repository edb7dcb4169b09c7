#include "query/promql/evaluator.h"

#include <string>
#include <utility>

#include "query/promql/selection.h"

namespace hg::query::promql {
namespace {

/// Converts an instant vector that was evaluated at the steps of `grid` to a range vector.
Result<Value> AsMatrix(Value vector, const Steps& grid, MemoryTally* tally) {
  Value out;
  out.type = ValueType::kMatrix;
  for (VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(HoldSeries(series.labels, 2 * grid.count, tally, &out.memory));
    RangeSeries to{std::move(series.labels), {}, {}};
    for (size_t i = 0; i < grid.count; ++i) {
      if (IsAbsent(series.values[i])) continue;
      to.times_ms.push_back(grid.At(i));
      to.values.push_back(series.values[i]);
    }
    if (!to.values.empty()) out.matrix.push_back(std::move(to));
  }
  return out;
}

}  // namespace

Result<Value> Evaluator::Evaluate(const Expr& expr, const Steps& steps) {
  if (const auto* number = expr.As<NumberLiteral>()) {
    return MakeScalar(steps.count, &memory_, [&](size_t) { return number->value; });
  }
  if (const auto* text = expr.As<StringLiteral>()) {
    Value out;
    out.type = ValueType::kString;
    out.text = text->value;
    return out;
  }
  if (const auto* negation = expr.As<Negation>()) return EvaluateNegation(*negation, steps);
  if (const auto* call = expr.As<Call>()) return EvaluateCall(*call, expr.at, steps, this);
  if (const auto* aggregation = expr.As<Aggregation>())
    return EvaluateAggregation(*aggregation, steps, this);
  if (const auto* binary = expr.As<Binary>()) return EvaluateBinary(*binary, steps, this);
  const auto* selector = expr.As<Selector>();
  if (selector != nullptr && selector->range_ms == 0) return EvaluateSelector(*selector, steps);
  Steps first = steps;
  first.count = 1;
  ASSIGN_OR_RETURN(Ranges ranges, EvaluateRanges(expr, first));
  return std::move(ranges.matrix);
}

Result<Value> Evaluator::EvaluateSelector(const Selector& selector, const Steps& steps) {
  const Steps instants = Shifted(steps, selector.shift, times_);
  InstantSink sink(instants, times_.lookback_ms, SampleShown::kValue, watch_, &memory_);
  RETURN_IF_ERROR(reader_.Read(selector.matchers, instants.start_ms - times_.lookback_ms,
                               instants.end_ms(), &sink));
  return sink.Finish();
}

Result<Evaluator::Ranges> Evaluator::EvaluateRanges(const Expr& expr, const Steps& steps) {
  Ranges out;
  if (const auto* selector = expr.As<Selector>()) {
    out.ends = Shifted(steps, selector->shift, times_);
    out.range_ms = selector->range_ms;
    RangeSink sink(out.ends, out.range_ms, &memory_);
    RETURN_IF_ERROR(reader_.Read(selector->matchers, out.ends.start_ms - out.range_ms,
                                 out.ends.end_ms(), &sink));
    out.matrix = sink.Finish();
    return out;
  }
  const auto& subquery = *expr.As<Subquery>();
  out.ends = Shifted(steps, subquery.shift, times_);
  out.range_ms = subquery.range_ms;
  const int64_t step_ms = subquery.step_ms > 0 ? subquery.step_ms : times_.subquery_step_ms;
  const Steps inner = SubquerySteps(out.ends, out.range_ms, step_ms);
  out.matrix.type = ValueType::kMatrix;
  if (inner.count == 0) return out;
  if (inner.count > kSubqueryStepsMax) {
    return Status::InvalidArgument("a subquery of " + std::to_string(inner.count) +
                                   " steps, more than " + std::to_string(kSubqueryStepsMax));
  }
  ASSIGN_OR_RETURN(Value vector, Evaluate(*subquery.inner, inner));
  ASSIGN_OR_RETURN(out.matrix, AsMatrix(std::move(vector), inner, &memory_));
  return out;
}

Result<Value> Evaluator::EvaluateNegation(const Negation& negation, const Steps& steps) {
  ASSIGN_OR_RETURN(Value value, Evaluate(*negation.inner, steps));
  if (negation.plus) return value;
  for (double& number : value.scalar) number = -number;
  for (VectorSeries& series : value.vector) {
    RETURN_IF_ERROR(memory_.Step(steps.count));
    series.labels.RemoveName();
    for (double& number : series.values) {
      if (!IsAbsent(number)) number = -number;
    }
  }
  RETURN_IF_ERROR(RefuseEqualSeries(value, &memory_));
  return value;
}

}  // namespace hg::query::promql
