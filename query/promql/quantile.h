#pragma once
// Quantiles of values and of histograms with cumulative buckets. Pure.

#include <vector>

namespace hg::query::promql {

/// Between the two values whose ranks are nearest, in proportion; NaNs come first. −Inf for φ < 0,
/// +Inf for φ > 1, NaN for a φ of NaN. Sorts the values.
double Quantile(double phi, std::vector<double>* values);

/// A bucket counts what is at most its bound.
struct Bucket {
  double bound = 0;
  double count = 0;
};

/// The value below which the share φ of what was counted lies, buckets taken to be filled evenly.
/// NaN: no bucket has the bound +Inf, there are less than two, or nothing was counted. Sorts the
/// buckets; those of equal bounds are one; counts that fall are taken for the one before.
double HistogramQuantile(double phi, std::vector<Bucket>* buckets);

}  // namespace hg::query::promql
