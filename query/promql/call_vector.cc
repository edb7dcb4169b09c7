// The PromQL functions of whole vectors: clamping, rounding, sorting, histograms.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/promql/call.h"
#include "query/promql/math_functions.h"
#include "query/promql/number_text.h"
#include "query/promql/quantile.h"
#include "storage/base/checked_sort.h"

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

/// Applies a function to each sample and a scalar argument. `otherwise` is the default of the
/// argument.
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

/// Returns the sample of each step, or NaN for a step with no sample or several samples.
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

/// Sorts the series. Only results of a single step keep this order.
template <typename Before>
Result<Value> Sorted(const CallSite& site, Before before) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  if (site.steps.count > 1) {
    // Prometheus evaluates a step-invariant vector only once, so it does not give this warning.
    if (IsStepInvariant(site.argument(0))) return vector;
    site.evaluator.annotations().Add(Remark::kWarning, site.at,
                                     "sort is ineffective for range queries since results are "
                                     "always ordered by labels");
    return vector;
  }
  const auto by_value = [&](const VectorSeries& a, const VectorSeries& b) {
    const double x = a.values[0], y = b.values[0];
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return before(x, y);
  };
  RETURN_IF_ERROR(CheckedSort(&vector.vector, by_value, &site.evaluator.memory()));
  return vector;
}
Result<Value> Sort(const CallSite& site) { return Sorted(site, std::less<>()); }
Result<Value> SortDesc(const CallSite& site) { return Sorted(site, std::greater<>()); }

/// The series that are the buckets of one histogram.
struct Histogram {
  Labels labels;  // labels of the histogram, without the metric name and "le"
  std::vector<std::pair<double, const Column*>> buckets;
};

/// Adds the memory of the histograms to `held`. Adds a warning for each series that is not a
/// bucket.
Result<std::vector<Histogram>> HistogramsOf(const CallSite& site, size_t argument,
                                            const Value& vector, MemoryHold* held) {
  MemoryTally* const tally = &site.evaluator.memory();
  // Memory of a bucket: one entry here and one in the working memory of a step, both counted twice
  // because vectors grow by doubling.
  constexpr int64_t kBytesPerBucket = 64;
  std::vector<Histogram> histograms;
  SeriesNumbers numbers(tally);
  for (const VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(tally->Step(series.labels.steps()));
    const std::string_view text = series.labels.Get(kBucketLabel);
    const std::optional<double> bound = ParseFloat(text);
    if (!bound || std::isnan(*bound)) {
      RETURN_IF_ERROR(tally->Step(series.values.size()));
      if (std::ranges::all_of(series.values, IsAbsent)) continue;
      const std::string_view name = series.labels.Get(kNameLabel);
      site.evaluator.annotations().Add(
          Remark::kWarning, site.argument(argument).at,
          "bucket label \"le\" is missing or has a malformed value of " + Quoted(text) +
              (name.empty() ? "" : " for metric name " + Quoted(name)));
      continue;
    }
    Labels labels = series.labels;
    labels.Remove(kBucketLabel);
    ASSIGN_OR_RETURN(const SeriesNumbers::Place place, numbers.Of(labels));
    labels.RemoveName();
    RETURN_IF_ERROR(held->Add(
        tally, kBytesPerBucket + (place.fresh ? static_cast<int64_t>(labels.bytes()) : 0)));
    if (place.fresh) histograms.push_back({std::move(labels), {}});
    histograms[place.number].buckets.emplace_back(*bound, &series.values);
  }
  return histograms;
}

/// Calls `compute(step, &buckets)` for each histogram at each step at which it has buckets.
/// `argument` is the number of the vector's argument.
template <typename Compute>
Result<Value> OfHistograms(const CallSite& site, size_t argument, Compute compute) {
  ASSIGN_OR_RETURN(const Value vector, site.Evaluate(argument));
  MemoryTally& tally = site.evaluator.memory();
  VectorBuilder builder(site.steps, &tally);
  std::vector<Bucket> buckets;
  MemoryHold held;
  RETURN_IF_ERROR(held.Add(&tally, static_cast<int64_t>(site.steps.count * sizeof(double))));
  ASSIGN_OR_RETURN(const std::vector<Histogram> histograms,
                   HistogramsOf(site, argument, vector, &held));
  for (const Histogram& histogram : histograms) {
    VectorSeries series{histogram.labels, Column(site.steps.count, Absent())};
    const size_t count = histogram.buckets.size();
    for (size_t i = 0; i < site.steps.count; ++i) {
      RETURN_IF_ERROR(tally.Step(1 + count * std::bit_width(count)));
      buckets.clear();
      for (const auto& [bound, counts] : histogram.buckets) {
        if (!IsAbsent((*counts)[i])) buckets.push_back({bound, (*counts)[i]});
      }
      if (!buckets.empty()) series.values[i] = compute(i, &buckets);
    }
    RETURN_IF_ERROR(builder.Add(std::move(series)));
  }
  return builder.Take();
}

/// Returns the time in UTC, as "2023-11-14T22:13:20Z".
std::string TimeText(int64_t ms) {
  const time_t seconds = ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

void AnnotateDecreases(const CallSite& site, const Decreases& decreases) {
  if (decreases.histograms == 0) return;
  std::string text =
      "input to histogram_quantile needed to be fixed for monotonicity (see "
      "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from "
      "buckets ";
  AppendScrapedText(decreases.first_bound, &text);
  text += " to ";
  AppendScrapedText(decreases.last_bound, &text);
  char most[32];
  std::snprintf(most, sizeof(most), "%.2g", decreases.most);
  text.append(", with a max diff of ").append(most);
  text += ", over " + std::to_string(decreases.histograms) + " samples from " +
          TimeText(decreases.first_ms) + " to " + TimeText(decreases.last_ms);
  site.evaluator.annotations().Add(Remark::kInfo, site.argument(1).at, std::move(text));
}

Result<Value> QuantileOfHistograms(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value phi, site.Evaluate(0));
  RETURN_IF_ERROR(CheckQuantiles(phi.scalar, site.argument(0).at, &site.evaluator.annotations(),
                                 &site.evaluator.memory()));
  Decreases decreases;
  // Prometheus evaluates a call only once if its arguments do not depend on the step. So only the
  // decreases of the first step are reported.
  const bool once = IsStepInvariant(site.argument(0)) && IsStepInvariant(site.argument(1));
  ASSIGN_OR_RETURN(Value out, OfHistograms(site, 1, [&](size_t step, std::vector<Bucket>* buckets) {
                     Decreases later;
                     const size_t before = decreases.histograms;
                     const double value = HistogramQuantile(phi.scalar[step], buckets,
                                                            once && step > 0 ? &later : &decreases);
                     if (decreases.histograms > before) {
                       const int64_t time_ms = site.steps.At(step);
                       decreases.first_ms = std::min(decreases.first_ms, time_ms);
                       decreases.last_ms = std::max(decreases.last_ms, time_ms);
                     }
                     return value;
                   }));
  AnnotateDecreases(site, decreases);
  return out;
}

Result<Value> FractionOfHistograms(const CallSite& site) {
  ASSIGN_OR_RETURN(const Value lower, site.Evaluate(0));
  ASSIGN_OR_RETURN(const Value upper, site.Evaluate(1));
  return OfHistograms(site, 2, [&](size_t step, std::vector<Bucket>* buckets) {
    return HistogramFraction(lower.scalar[step], upper.scalar[step], buckets);
  });
}

/// Returns an empty vector. The functions of native histograms ignore other samples, and Hourglass
/// stores no native histograms.
Result<Value> OfNativeHistograms(const CallSite& site) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  vector.vector.clear();
  return vector;
}

}  // namespace

CallFunction FindVectorFunction(std::string_view name) {
  if (name == "clamp") return Clamp;
  if (name == "clamp_max") return ClampMax;
  if (name == "clamp_min") return ClampMin;
  if (name == "histogram_fraction") return FractionOfHistograms;
  if (name == "histogram_quantile") return QuantileOfHistograms;
  if (name.starts_with("histogram_")) return OfNativeHistograms;
  if (name == "round") return Round;
  if (name == "scalar") return Scalar;
  if (name == "sort") return Sort;
  if (name == "sort_desc") return SortDesc;
  return nullptr;
}

}  // namespace hg::query::promql
