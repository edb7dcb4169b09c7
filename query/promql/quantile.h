#pragma once
// Computes quantiles of values and of histograms with cumulative buckets.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "query/promql/annotations.h"
#include "query/promql/value.h"

namespace hg::query::promql {

/// Returns the φ-quantile of the values. The function interpolates between the two values whose
/// ranks are nearest. NaN is sorted before all other values. Returns −Inf for φ < 0, +Inf for φ >
/// 1, and NaN if φ is NaN or `values` is empty. Changes the order of `values`.
double Quantile(double phi, std::vector<double>* values);

/// Adds a warning for each φ in `phis` that is not between 0 and 1. `at` is the byte offset of φ in
/// the expression. Returns the errors of `tally`.
Status CheckQuantiles(const Column& phis, size_t at, Annotations* annotations, MemoryTally* tally);

/// Adds at most two warnings for all φ in `phis` together. If any φ is NaN, adds only one warning.
/// Otherwise adds one warning for the largest φ above 1 and one for the smallest φ below 0. Returns
/// the errors of `tally`.
Status CheckQuantileBounds(const Column& phis, size_t at, Annotations* annotations,
                           MemoryTally* tally);

/// A cumulative bucket of a histogram: `count` is the number of observations that are at most
/// `bound`.
struct Bucket {
  double bound = 0;
  double count = 0;
};

/// Statistics about the invalid buckets of several histograms. The count of a cumulative bucket is
/// invalid if it is lower than the count of the previous bucket.
struct Decreases {
  size_t histograms = 0;  // number of histograms that have at least one invalid bucket
  double first_bound = std::numeric_limits<double>::infinity();
  double last_bound = -std::numeric_limits<double>::infinity();
  double most = 0;
  // The times of the first and of the last histogram that has an invalid bucket. The callers of
  // HistogramQuantile set these members.
  int64_t first_ms = std::numeric_limits<int64_t>::max();
  int64_t last_ms = std::numeric_limits<int64_t>::min();
};

/// Returns the value below which the share φ of the observations lies, if the observations are
/// spread evenly in each bucket. Returns −Inf for φ < 0, and +Inf for φ > 1. Returns NaN if φ is
/// NaN, if no bucket has the bound +Inf, if there are fewer than two buckets, or if there are no
/// observations. Sorts the buckets and merges buckets with equal bounds.
///
/// If the count of a bucket is lower than that of the previous bucket, the bucket gets the count of
/// the previous bucket. If the difference is more than a rounding error, it is recorded in
/// `decreases`.
double HistogramQuantile(double phi, std::vector<Bucket>* buckets, Decreases* decreases);

/// Returns the share of the observations between the values `lower` and `upper`, if the
/// observations are spread evenly in each bucket. Returns 0 if `lower` is not below `upper`.
/// Returns NaN if a value is NaN, if no bucket has the bound +Inf, or if the histogram has no
/// observations. Sorts the buckets and merges buckets with equal bounds.
double HistogramFraction(double lower, double upper, std::vector<Bucket>* buckets);

}  // namespace hg::query::promql
