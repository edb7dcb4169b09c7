// Functions of whole vectors: clamping, rounding, sorting, histograms.

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/promql/call.h"
#include "query/promql/math_functions.h"
#include "query/promql/number_text.h"
#include "query/promql/quantile.h"

namespace hg::query::promql {
namespace {

Result<Value> Clamp(const CallSite& site) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  ASSIGN_OR_RETURN(const Value least, site.Evaluate(1));
  ASSIGN_OR_RETURN(const Value most, site.Evaluate(2));
  MemoryTally& tally = site.evaluator.memory();
  RETURN_IF_ERROR(ForEachSample(site.steps, &tally, &vector, [&](size_t i, double value) {
    const double low = least.scalar[i], high = most.scalar[i];
    return high < low ? Absent() : Most(low, Least(high, value));
  }));
  RETURN_IF_ERROR(DropNames(site.steps, &tally, &vector));
  return vector;
}

/// A function of each sample and a scalar, `otherwise` where that is not given.
template <typename Compute>
Result<Value> WithScalar(const CallSite& site, double otherwise, Compute compute) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  Value scalar;
  if (site.call.arguments.size() > 1) {
    ASSIGN_OR_RETURN(scalar, site.Evaluate(1));
  }
  MemoryTally& tally = site.evaluator.memory();
  RETURN_IF_ERROR(ForEachSample(site.steps, &tally, &vector, [&](size_t i, double value) {
    return compute(value, scalar.scalar.empty() ? otherwise : scalar.scalar[i]);
  }));
  RETURN_IF_ERROR(DropNames(site.steps, &tally, &vector));
  return vector;
}

Result<Value> ClampMax(const CallSite& site) { return WithScalar(site, 0, Least); }
Result<Value> ClampMin(const CallSite& site) { return WithScalar(site, 0, Most); }
Result<Value> Round(const CallSite& site) { return WithScalar(site, 1, RoundTo); }

/// The only sample of a step.
Result<Value> Scalar(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value vector, site.Evaluate(0));
  MemoryTally& tally = site.evaluator.memory();
  RETURN_IF_ERROR(tally.Step(site.steps.count));
  MemoryHold held;
  RETURN_IF_ERROR(held.Add(
      &tally, static_cast<int64_t>(site.steps.count * (sizeof(uint8_t) + sizeof(double)))));
  std::vector<uint8_t> counts(site.steps.count);
  Column values(site.steps.count, std::nan(""));
  for (const VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(tally.Step(site.steps.count));
    for (size_t i = 0; i < site.steps.count; ++i) {
      if (IsAbsent(series.values[i]) || counts[i] > 1) continue;
      values[i] = ++counts[i] == 1 ? series.values[i] : std::nan("");
    }
  }
  return MakeScalar(site.steps.count, &tally, [&](size_t i) { return values[i]; });
}

/// Only what is asked at one instant has an order.
template <typename Before>
Result<Value> Sorted(const CallSite& site, Before before) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  if (site.steps.count > 1) return vector;
  std::stable_sort(vector.vector.begin(), vector.vector.end(),
                   [&](const VectorSeries& a, const VectorSeries& b) {
                     const double x = a.values[0], y = b.values[0];
                     if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
                     return before(x, y);
                   });
  return vector;
}
Result<Value> Sort(const CallSite& site) { return Sorted(site, std::less<>()); }
Result<Value> SortDesc(const CallSite& site) { return Sorted(site, std::greater<>()); }

/// Series that are the buckets of one histogram.
struct Histogram {
  Labels labels;  // without name and le
  std::vector<std::pair<double, const Column*>> buckets;
};

std::vector<Histogram> HistogramsOf(const Value& vector) {
  std::vector<Histogram> histograms;
  std::unordered_map<std::string, size_t> numbers;
  for (const VectorSeries& series : vector.vector) {
    const std::optional<double> bound = ParseFloat(series.labels.Get(kBucketLabel));
    if (!bound || std::isnan(*bound)) continue;  // no bucket
    Labels labels = series.labels;
    labels.Remove(kBucketLabel);
    const auto [it, fresh] = numbers.try_emplace(labels.Key(), histograms.size());
    labels.Remove(kNameLabel);
    if (fresh) histograms.push_back({std::move(labels), {}});
    histograms[it->second].buckets.emplace_back(*bound, &series.values);
  }
  return histograms;
}

Result<Value> QuantileOfHistograms(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value phi, site.Evaluate(0));
  ASSIGN_OR_RETURN(const Value vector, site.Evaluate(1));
  MemoryTally& tally = site.evaluator.memory();
  VectorBuilder builder(site.steps, &tally);
  std::vector<Bucket> buckets;
  for (const Histogram& histogram : HistogramsOf(vector)) {
    VectorSeries series{histogram.labels, Column(site.steps.count, Absent())};
    RETURN_IF_ERROR(tally.Step(histogram.buckets.size() * site.steps.count));
    for (size_t i = 0; i < site.steps.count; ++i) {
      buckets.clear();
      for (const auto& [bound, counts] : histogram.buckets) {
        if (!IsAbsent((*counts)[i])) buckets.push_back({bound, (*counts)[i]});
      }
      if (!buckets.empty()) series.values[i] = HistogramQuantile(phi.scalar[i], &buckets);
    }
    RETURN_IF_ERROR(builder.Add(std::move(series)));
  }
  return builder.Take();
}

}  // namespace

CallFunction FindVectorFunction(std::string_view name) {
  if (name == "clamp") return Clamp;
  if (name == "clamp_max") return ClampMax;
  if (name == "clamp_min") return ClampMin;
  if (name == "histogram_quantile") return QuantileOfHistograms;
  if (name == "round") return Round;
  if (name == "scalar") return Scalar;
  if (name == "sort") return Sort;
  if (name == "sort_desc") return SortDesc;
  return nullptr;
}

}  // namespace hg::query::promql
