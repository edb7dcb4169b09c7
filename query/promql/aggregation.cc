// sum, avg and the other aggregations that fold all samples of a group into one.

#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/promql/evaluator.h"
#include "query/promql/grouping.h"
#include "query/promql/pick_aggregation.h"

namespace hg::query::promql {
namespace {

/// What the samples of one group and step have come to.
struct Fold {
  double value = 0;
  double mean = 0;
  double count = 0;
};

// Kept as a mean, so that sums beyond the range of doubles have one.
void AddToMean(double value, Fold* fold) {
  if (std::isinf(fold->mean)) {
    const bool same = std::isinf(value) && (value > 0) == (fold->mean > 0);
    if (same || std::isfinite(value)) return;
  }
  fold->mean += value / fold->count - fold->mean / fold->count;
}

// Welford's method.
void AddToVariance(double value, Fold* fold) {
  const double delta = value - fold->mean;
  fold->mean += delta / fold->count;
  fold->value += delta * (value - fold->mean);
}

void AddTo(Aggregator aggregator, double value, Fold* fold) {
  const bool first = fold->count++ == 0;
  switch (aggregator) {
    case Aggregator::kSum:
      fold->value += value;
      return;
    case Aggregator::kAvg:
      return AddToMean(value, fold);
    case Aggregator::kMin:
      if (first || fold->value > value || std::isnan(fold->value)) fold->value = value;
      return;
    case Aggregator::kMax:
      if (first || fold->value < value || std::isnan(fold->value)) fold->value = value;
      return;
    case Aggregator::kStddev:
    case Aggregator::kStdvar:
      return AddToVariance(value, fold);
    default:  // count and group need the count alone
      return;
  }
}

double ResultOf(Aggregator aggregator, const Fold& fold) {
  switch (aggregator) {
    case Aggregator::kAvg:
      return fold.mean;
    case Aggregator::kCount:
      return fold.count;
    case Aggregator::kGroup:
      return 1;
    case Aggregator::kStddev:
      return std::sqrt(fold.value / fold.count);
    case Aggregator::kStdvar:
      return fold.value / fold.count;
    default:
      return fold.value;
  }
}

Result<Value> FoldGroups(const Aggregation& aggregation, const Value& vector, const Steps& steps,
                         MemoryTally* tally) {
  const SeriesGroups groups = GroupSeries(vector, aggregation.grouping);
  MemoryHold folds_hold;
  RETURN_IF_ERROR(folds_hold.Add(
      tally, static_cast<int64_t>(groups.labels.size() * steps.count * sizeof(Fold))));
  std::vector<Fold> folds(groups.labels.size() * steps.count);
  // Series by series: of each group and step their order is kept.
  for (size_t series = 0; series < vector.vector.size(); ++series) {
    RETURN_IF_ERROR(tally->Step(1 + steps.count));
    const Column& column = vector.vector[series].values;
    Fold* const of_group = &folds[groups.group_of[series] * steps.count];
    for (size_t i = 0; i < steps.count; ++i) {
      if (!IsAbsent(column[i])) AddTo(aggregation.aggregator, column[i], &of_group[i]);
    }
  }
  VectorBuilder builder(steps, tally);
  for (size_t group = 0; group < groups.labels.size(); ++group) {
    ASSIGN_OR_RETURN(const size_t series, builder.SeriesOf(groups.labels[group]));
    for (size_t i = 0; i < steps.count; ++i) {
      const Fold& fold = folds[group * steps.count + i];
      if (fold.count > 0) builder.column(series)[i] = ResultOf(aggregation.aggregator, fold);
    }
  }
  return builder.Take();
}

}  // namespace

Labels GroupLabels(Labels labels, const Grouping& grouping) {
  if (grouping.without) {
    labels.Drop(grouping.labels);
    labels.Remove(kNameLabel);
  } else {
    labels.Keep(grouping.labels);
  }
  return labels;
}

SeriesGroups GroupSeries(const Value& vector, const Grouping& grouping) {
  SeriesGroups groups;
  std::unordered_map<std::string, size_t> numbers;
  for (const VectorSeries& series : vector.vector) {
    Labels labels = GroupLabels(series.labels, grouping);
    const auto [it, fresh] = numbers.try_emplace(labels.Key(), groups.labels.size());
    if (fresh) groups.labels.push_back(std::move(labels));
    groups.group_of.push_back(it->second);
  }
  return groups;
}

Result<Value> EvaluateAggregation(const Aggregation& aggregation, const Steps& steps,
                                  Evaluator* evaluator) {
  Value parameter;
  if (aggregation.parameter != nullptr) {
    ASSIGN_OR_RETURN(parameter, evaluator->Evaluate(*aggregation.parameter, steps));
  }
  ASSIGN_OR_RETURN(Value vector, evaluator->Evaluate(*aggregation.inner, steps));
  MemoryTally& tally = evaluator->memory();
  switch (aggregation.aggregator) {
    case Aggregator::kTopk:
    case Aggregator::kBottomk:
      return PickOfGroups(aggregation, parameter.scalar, std::move(vector), steps, &tally);
    case Aggregator::kQuantile:
      return QuantilesOfGroups(aggregation, parameter.scalar, vector, steps, &tally);
    case Aggregator::kCountValues:
      return CountValues(aggregation, parameter.text, vector, steps, &tally);
    default:
      return FoldGroups(aggregation, vector, steps, &tally);
  }
}

}  // namespace hg::query::promql
