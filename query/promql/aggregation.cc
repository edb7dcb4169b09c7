// The PromQL aggregations that reduce all samples of a group to one value: sum, avg and so on.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "query/promql/evaluator.h"
#include "query/promql/exact_sum.h"
#include "query/promql/grouping.h"
#include "query/promql/pick_aggregation.h"
#include "query/promql/quantile.h"

namespace hg::query::promql {
namespace {

// Each of the following classes has the running result of one group at one step. Add adds a value,
// `any` returns whether a value was added, and `result` returns the result.

struct SumFold {
  ExactSum sum;
  bool any = false;

  void Add(double value) {
    sum.Add(value);
    any = true;
  }
  [[nodiscard]] double result() const { return sum.total(); }
};

struct AverageFold {
  ExactMean average;
  bool any = false;

  void Add(double value) {
    average.Add(value);
    any = true;
  }
  [[nodiscard]] double result() const { return average.mean(); }
};

struct CountFold {
  double any = 0;

  void Add(double) { ++any; }
  [[nodiscard]] double result() const { return any; }
};

struct GroupFold {
  bool any = false;

  void Add(double) { any = true; }
  [[nodiscard]] static double result() { return 1; }
};

/// The smallest or largest value. It is NaN only if all values are NaN.
template <typename Better>
struct BestFold {
  bool any = false;
  double best = 0;

  void Add(double value) {
    if (!any || std::isnan(best) || Better()(value, best)) best = value;
    any = true;
  }
  [[nodiscard]] double result() const { return best; }
};

/// The variance by Welford's method, or its square root.
template <bool kRoot>
struct VarianceFold {
  double any = 0, mean = 0, squares = 0;

  void Add(double value) {
    const double delta = value - mean;
    mean += delta / ++any;
    squares += delta * (value - mean);
  }
  [[nodiscard]] double result() const { return kRoot ? std::sqrt(squares / any) : squares / any; }
};

template <typename Fold>
Result<Value> FoldGroups(const Aggregation& aggregation, const Value& vector, const Steps& steps,
                         MemoryTally* tally) {
  ASSIGN_OR_RETURN(const SeriesGroups groups, GroupSeries(vector, aggregation.grouping, tally));
  MemoryHold folds_hold;
  RETURN_IF_ERROR(folds_hold.Add(
      tally, static_cast<int64_t>(groups.labels.size() * steps.count * sizeof(Fold))));
  std::vector<Fold> folds(groups.labels.size() * steps.count);
  // The loop runs series by series. Within a group, the values of a step are still added in the
  // order of the series.
  for (size_t series = 0; series < vector.vector.size(); ++series) {
    RETURN_IF_ERROR(tally->Step(1 + steps.count));
    const Column& column = vector.vector[series].values;
    Fold* const of_group = &folds[groups.group_of[series] * steps.count];
    for (size_t i = 0; i < steps.count; ++i) {
      if (!IsAbsent(column[i])) of_group[i].Add(column[i]);
    }
  }
  VectorBuilder builder(steps, tally);
  for (size_t group = 0; group < groups.labels.size(); ++group) {
    ASSIGN_OR_RETURN(const size_t series, builder.SeriesOf(groups.labels[group]));
    for (size_t i = 0; i < steps.count; ++i) {
      const Fold& fold = folds[group * steps.count + i];
      if (fold.any) builder.column(series)[i] = fold.result();
    }
  }
  return builder.Take();
}

}  // namespace

Labels GroupLabels(Labels labels, const Grouping& grouping) {
  if (grouping.without) {
    labels.Drop(grouping.labels);
    labels.RemoveName();
  } else {
    labels.Keep(grouping.labels);
  }
  return labels;
}

Result<SeriesGroups> GroupSeries(const Value& vector, const Grouping& grouping,
                                 MemoryTally* tally) {
  SeriesGroups groups;
  RETURN_IF_ERROR(
      groups.memory.Add(tally, static_cast<int64_t>(vector.vector.size() * sizeof(size_t))));
  groups.group_of.reserve(vector.vector.size());
  SeriesNumbers numbers(tally);
  for (const VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(tally->Step(series.labels.steps()));
    Labels labels = GroupLabels(series.labels, grouping);
    ASSIGN_OR_RETURN(const SeriesNumbers::Place place, numbers.Of(labels));
    if (place.fresh) {
      RETURN_IF_ERROR(groups.memory.Add(tally, static_cast<int64_t>(labels.bytes())));
      groups.labels.push_back(std::move(labels));
    }
    groups.group_of.push_back(place.number);
  }
  return groups;
}

Result<Value> EvaluateAggregation(const Aggregation& aggregation, const Steps& steps,
                                  Evaluator* evaluator) {
  Value parameter;
  if (aggregation.parameter != nullptr) {
    ASSIGN_OR_RETURN(parameter, evaluator->Evaluate(*aggregation.parameter, steps));
    // Prometheus evaluates an aggregation of a step-invariant vector only at the first step. So the
    // parameter of the first step applies to all steps.
    if (parameter.type == ValueType::kScalar && IsStepInvariant(*aggregation.inner))
      std::fill(parameter.scalar.begin(), parameter.scalar.end(), parameter.scalar.front());
  }
  ASSIGN_OR_RETURN(Value vector, evaluator->Evaluate(*aggregation.inner, steps));
  MemoryTally& tally = evaluator->memory();
  switch (aggregation.aggregator) {
    case Aggregator::kTopk:
    case Aggregator::kBottomk:
      return PickOfGroups(aggregation, parameter.scalar, std::move(vector), steps, &tally);
    case Aggregator::kQuantile:
      RETURN_IF_ERROR(CheckQuantileBounds(parameter.scalar, aggregation.parameter->at,
                                          &evaluator->annotations(), &tally));
      return QuantilesOfGroups(aggregation, parameter.scalar, vector, steps, &tally);
    case Aggregator::kCountValues:
      return CountValues(aggregation, parameter.text, vector, steps, &tally);
    case Aggregator::kSum:
      return FoldGroups<SumFold>(aggregation, vector, steps, &tally);
    case Aggregator::kAvg:
      return FoldGroups<AverageFold>(aggregation, vector, steps, &tally);
    case Aggregator::kCount:
      return FoldGroups<CountFold>(aggregation, vector, steps, &tally);
    case Aggregator::kGroup:
      return FoldGroups<GroupFold>(aggregation, vector, steps, &tally);
    case Aggregator::kMin:
      return FoldGroups<BestFold<std::less<>>>(aggregation, vector, steps, &tally);
    case Aggregator::kMax:
      return FoldGroups<BestFold<std::greater<>>>(aggregation, vector, steps, &tally);
    case Aggregator::kStddev:
      return FoldGroups<VarianceFold<true>>(aggregation, vector, steps, &tally);
    case Aggregator::kStdvar:
      return FoldGroups<VarianceFold<false>>(aggregation, vector, steps, &tally);
  }
  return Status::Unsupported("unknown aggregation");
}

}  // namespace hg::query::promql
