#pragma once
// Runs of values folded into a bucket's running result. Bit for bit what folding them one by one
// gives (spec query.md §1), only faster.

#include <cstdint>
#include <span>

namespace hg::query {

/// A running sum and how many numbers are in it.
struct RunningSum {
  double sum = 0;
  int64_t count = 0;
};

/// NaNs are skipped.
void AddRun(std::span<const double> values, RunningSum* running);
/// Each integer is converted to double, then added.
void AddRun(std::span<const int64_t> values, RunningSum* running);

/// Smaller of `least` and all values, the earlier of equal ones; NaNs are skipped.
double LeastOf(double least, std::span<const double> values);
double LeastOf(double least, std::span<const int64_t> values);
double GreatestOf(double greatest, std::span<const double> values);
double GreatestOf(double greatest, std::span<const int64_t> values);

/// Values that are not NaN.
int64_t CountNumbers(std::span<const double> values);

}  // namespace hg::query
