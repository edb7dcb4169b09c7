#include "query/promql/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "query/promql/number_text.h"
#include "storage/model/special_double.h"

namespace hg::query::promql {
namespace {

/// Sorts the buckets and replaces buckets with equal bounds by one with the sum of their counts.
void Unite(std::vector<Bucket>* buckets) {
  std::stable_sort(buckets->begin(), buckets->end(),
                   [](const Bucket& a, const Bucket& b) { return a.bound < b.bound; });
  size_t last = 0;
  for (size_t i = 1; i < buckets->size(); ++i) {
    if ((*buckets)[i].bound == (*buckets)[last].bound) {
      (*buckets)[last].count += (*buckets)[i].count;
    } else {
      (*buckets)[++last] = (*buckets)[i];
    }
  }
  buckets->resize(std::min(buckets->size(), last + 1));
}

/// Raises counts so that no count is less than the one before it. Counts that differ only by a
/// rounding error become equal.
void Settle(std::vector<Bucket>* buckets, Decreases* decreases) {
  constexpr double kRounding = 1e-12;
  bool decreased = false;
  double before = buckets->front().count;
  for (Bucket& bucket : *buckets) {
    const double more = bucket.count - before;
    const bool rounding = std::abs(more) < kRounding * (std::abs(bucket.count) + std::abs(before));
    if (more > 0 && !rounding) before = bucket.count;
    if (more < 0 && !rounding) {
      decreased = true;
      decreases->first_bound = std::min(decreases->first_bound, bucket.bound);
      decreases->last_bound = std::max(decreases->last_bound, bucket.bound);
      decreases->most = std::max(decreases->most, -more);
    }
    bucket.count = before;
  }
  decreases->histograms += decreased ? 1 : 0;
}

void WarnOfQuantile(double phi, size_t at, Annotations* annotations) {
  std::string text = "quantile value should be between 0 and 1, got ";
  AppendScrapedText(phi, &text);
  annotations->Add(Remark::kWarning, at, std::move(text));
}

}  // namespace

double Quantile(double phi, std::vector<double>* values) {
  if (values->empty() || std::isnan(phi)) return kNan;
  if (phi < 0) return -kInfinity;
  if (phi > 1) return kInfinity;
  const auto less = [](double a, double b) {
    return std::isnan(a) ? !std::isnan(b) : a < b;  // false if b is NaN
  };
  const double rank = phi * static_cast<double>(values->size() - 1);
  const double weight = rank - std::floor(rank);
  const auto lower = values->begin() + static_cast<ptrdiff_t>(std::floor(rank));
  std::nth_element(values->begin(), lower, values->end(), less);
  if (weight == 0) return *lower;
  // The values after `lower` are not sorted, so the next value in order is their minimum.
  const auto upper =
      lower + 1 == values->end() ? lower : std::min_element(lower + 1, values->end(), less);
  return *lower * (1 - weight) + *upper * weight;
}

Status CheckQuantiles(const Column& phis, size_t at, Annotations* annotations, MemoryTally* tally) {
  return ForEachStep(phis.size(), tally, [&](size_t i) {
    if (!(phis[i] >= 0 && phis[i] <= 1)) WarnOfQuantile(phis[i], at, annotations);
  });
}

Status CheckQuantileBounds(const Column& phis, size_t at, Annotations* annotations,
                           MemoryTally* tally) {
  bool any_nan = false;
  double least = 0, most = 1;
  RETURN_IF_ERROR(ForEachStep(phis.size(), tally, [&](size_t i) {
    any_nan = any_nan || std::isnan(phis[i]);
    least = std::min(least, phis[i]);
    most = std::max(most, phis[i]);
  }));
  if (any_nan) {
    WarnOfQuantile(kNan, at, annotations);
    return {};
  }
  if (most > 1) WarnOfQuantile(most, at, annotations);
  if (least < 0) WarnOfQuantile(least, at, annotations);
  return {};
}

double HistogramQuantile(double phi, std::vector<Bucket>* buckets, Decreases* decreases) {
  if (std::isnan(phi)) return kNan;
  if (phi < 0) return -kInfinity;
  if (phi > 1) return kInfinity;
  Unite(buckets);
  const std::vector<Bucket>& all = *buckets;
  if (all.empty() || all.back().bound != kInfinity) return kNan;
  Settle(buckets, decreases);
  if (all.size() < 2 || all.back().count == 0) return kNan;
  const double rank = phi * all.back().count;
  size_t at = 0;  // index of the bucket that contains the rank
  while (at + 1 < all.size() && !(all[at].count >= rank)) ++at;
  // The last bucket has no upper bound, so the result is its lower bound, which is the bound of the
  // bucket before it.
  if (at + 1 == all.size()) return all[at - 1].bound;
  if (at == 0) {
    if (all[0].bound <= 0) return all[0].bound;
    return all[0].bound * (rank / all[0].count);
  }
  const double begin = all[at - 1].bound, before = all[at - 1].count;
  return begin + (all[at].bound - begin) * ((rank - before) / (all[at].count - before));
}

double HistogramFraction(double lower, double upper, std::vector<Bucket>* buckets) {
  Unite(buckets);
  const std::vector<Bucket>& all = *buckets;
  if (all.empty() || all.back().bound != kInfinity) return kNan;
  const double count = all.back().count;
  if (count == 0 || std::isnan(lower) || std::isnan(upper)) return kNan;
  if (lower >= upper) return 0;
  // Returns the number of observations up to a value.
  const auto count_to = [&](double value) {
    double begin = all[0].bound > 0 ? 0 : -kInfinity, before = 0;
    for (const Bucket& bucket : all) {
      if (value <= begin) return before;
      if (value < bucket.bound) {
        // The distribution of values in a bucket without a lower or an upper bound is unknown.
        if (std::isinf(begin)) return bucket.count;
        if (std::isinf(bucket.bound)) return before;
        return before + (bucket.count - before) * (value - begin) / (bucket.bound - begin);
      }
      begin = bucket.bound;
      before = bucket.count;
    }
    return count;
  };
  return (std::min(count_to(upper), count) - std::min(count_to(lower), count)) / count;
}

}  // namespace hg::query::promql
