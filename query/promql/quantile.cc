#include "query/promql/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hg::query::promql {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One bucket for each bound, with counts that never fall.
void Settle(std::vector<Bucket>* buckets) {
  std::stable_sort(buckets->begin(), buckets->end(),
                   [](const Bucket& a, const Bucket& b) { return a.bound < b.bound; });
  std::vector<Bucket> settled;
  for (const Bucket& bucket : *buckets) {
    if (!settled.empty() && settled.back().bound == bucket.bound) {
      settled.back().count += bucket.count;
    } else {
      settled.push_back(bucket);
    }
  }
  for (size_t i = 1; i < settled.size(); ++i)
    settled[i].count = std::max(settled[i - 1].count, settled[i].count);
  *buckets = std::move(settled);
}

}  // namespace

double Quantile(double phi, std::vector<double>* values) {
  if (values->empty() || std::isnan(phi)) return kNaN;
  if (phi < 0) return -kInfinity;
  if (phi > 1) return kInfinity;
  std::sort(values->begin(), values->end(), [](double a, double b) {
    return std::isnan(a) ? !std::isnan(b) : a < b;  // false for a NaN b
  });
  const double rank = phi * static_cast<double>(values->size() - 1);
  const auto lower = static_cast<size_t>(std::floor(rank));
  const size_t upper = std::min(lower + 1, values->size() - 1);
  const double weight = rank - std::floor(rank);
  return (*values)[lower] * (1 - weight) + (*values)[upper] * weight;
}

double HistogramQuantile(double phi, std::vector<Bucket>* buckets) {
  if (std::isnan(phi)) return kNaN;
  if (phi < 0) return -kInfinity;
  if (phi > 1) return kInfinity;
  if (buckets->empty()) return kNaN;
  Settle(buckets);
  const std::vector<Bucket>& all = *buckets;
  if (all.back().bound != kInfinity || all.size() < 2 || all.back().count == 0) return kNaN;
  const double rank = phi * all.back().count;
  size_t at = 0;  // the bucket that the rank falls into
  while (at + 1 < all.size() && !(all[at].count >= rank)) ++at;
  // Nothing is known of the last one but that it begins where the one before ends.
  if (at + 1 == all.size()) return all[at - 1].bound;
  if (at == 0) {
    if (all[0].bound <= 0) return all[0].bound;
    return all[0].bound * (rank / all[0].count);
  }
  const double begin = all[at - 1].bound, before = all[at - 1].count;
  return begin + (all[at].bound - begin) * ((rank - before) / (all[at].count - before));
}

}  // namespace hg::query::promql
