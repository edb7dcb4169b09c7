#pragma once
// Functions that add many values at once to the sum, minimum or maximum of a bucket. They are
// faster than adding the values one by one, and the results have exactly the same bits
// (opentsdb-queries.md §1).

#include <cstdint>
#include <span>

namespace hg::query {

/// A running sum and the number of values in it.
struct RunningSum {
  double sum = 0;
  int64_t count = 0;
};

/// Adds the values to the running sum. Values that are NaN are skipped.
void AddChunk(std::span<const double> values, RunningSum* running);
/// Converts each integer to double and then adds it to the running sum.
void AddChunk(std::span<const int64_t> values, RunningSum* running);

/// LeastOf returns the minimum of `least` and all `values`. GreatestOf returns the maximum of
/// `greatest` and all `values`. If several numbers compare equal, such as 0.0 and -0.0, the first
/// of them is returned. NaN is skipped.
double LeastOf(double least, std::span<const double> values);
double LeastOf(double least, std::span<const int64_t> values);
double GreatestOf(double greatest, std::span<const double> values);
double GreatestOf(double greatest, std::span<const int64_t> values);

/// Returns the number of values that are not NaN.
int64_t CountNumbers(std::span<const double> values);

}  // namespace hg::query
