#pragma once
// avg_over_time as Prometheus computes it: kept as a mean, not divided at the end, so that sums
// beyond the range of doubles have one; with what rounding loses (exact_sum.h). Pure.

#include <cstddef>
#include <span>

namespace hg::query::promql {

/// Of at least one value.
double AverageOf(std::span<const double> values);

/// The same of several windows, at most kAveragesAtOnce: each value waits for two divisions of the
/// one before, and other windows' values meanwhile do not.
inline constexpr size_t kAveragesAtOnce = 8;
void AveragesOf(std::span<const std::span<const double>> windows, double* results);

}  // namespace hg::query::promql
