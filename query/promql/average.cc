#include "query/promql/average.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hg::query::promql {
namespace {

/// What the values of one window have come to.
struct Mean {
  double mean = 0, lost = 0;

  void Add(double value, double count) {
    const double more = value / count - mean / count;
    const double next = mean + more;
    lost += std::abs(mean) >= std::abs(more) ? (mean - next) + more : (more - next) + mean;
    mean = next;
  }
};

// Two windows in one register: the compiler has them on each processor that we know.
using Pair = double __attribute__((vector_size(16)));
using PairBits = int64_t __attribute__((vector_size(16)));
constexpr size_t kPairs = kAveragesAtOnce / 2;

Pair Size(Pair value) { return (Pair)((PairBits)value & INT64_MAX); }

Pair Choose(PairBits which, Pair yes, Pair no) {
  return (Pair)(((PairBits)yes & which) | ((PairBits)no & ~which));
}

/// The first `count` values of each window.
void AddTogether(const double* const* windows, size_t count, Mean* means) {
  Pair mean[kPairs] = {}, lost[kPairs] = {};
  for (size_t i = 0; i < count; ++i) {
    const auto n = static_cast<double>(i + 1);
    for (size_t k = 0; k < kPairs; ++k) {
      const Pair value = {windows[2 * k][i], windows[2 * k + 1][i]};
      const Pair more = value / n - mean[k] / n;
      const Pair next = mean[k] + more;
      lost[k] +=
          Choose(Size(mean[k]) >= Size(more), (mean[k] - next) + more, (more - next) + mean[k]);
      mean[k] = next;
    }
  }
  for (size_t k = 0; k < kAveragesAtOnce; ++k) means[k] = {mean[k / 2][k % 2], lost[k / 2][k % 2]};
}

}  // namespace

double AverageOf(std::span<const double> values) {
  Mean mean;
  double count = 0;
  for (const double value : values) {
    ++count;
    if (std::isinf(mean.mean)) {
      // Only a NaN or the other infinity changes it any more.
      const bool same = std::isinf(value) && (value > 0) == (mean.mean > 0);
      if (same || std::isfinite(value)) continue;
    }
    mean.Add(value, count);
  }
  return std::isinf(mean.mean) ? mean.mean : mean.mean + mean.lost;
}

void AveragesOf(std::span<const std::span<const double>> windows, double* results) {
  if (windows.size() < 2) {
    for (size_t k = 0; k < windows.size(); ++k) results[k] = AverageOf(windows[k]);
    return;
  }
  const double* at[kAveragesAtOnce];
  size_t together = windows[0].size();
  for (size_t k = 0; k < kAveragesAtOnce; ++k) {
    const std::span<const double> window = windows[std::min(k, windows.size() - 1)];
    at[k] = window.data();
    together = std::min(together, window.size());
  }
  Mean means[kAveragesAtOnce];
  AddTogether(at, together, means);
  for (size_t k = 0; k < windows.size(); ++k) {
    Mean& mean = means[k];
    for (size_t i = together; i < windows[k].size(); ++i)
      mean.Add(windows[k][i], static_cast<double>(i + 1));
    // An infinity on the way has left a NaN, or itself: it is added otherwise.
    results[k] = std::isfinite(mean.mean) ? mean.mean + mean.lost : AverageOf(windows[k]);
  }
}

}  // namespace hg::query::promql
