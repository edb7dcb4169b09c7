#include "query/buckets/bucket_math.h"

#include <algorithm>
#include <cmath>

#include "query/buckets/int_kernels.h"

namespace hg::query {
namespace {

// If all integers are below 2^40 and a run has fewer than 2^12 values, every partial sum of the run
// fits the 53 bits of a double. Then all additions are exact, and their order does not matter.
constexpr uint64_t kSmallInt = uint64_t{1} << 40;
constexpr size_t kShortRun = size_t{1} << 12;
constexpr double kExactSum = 4503599627370496.0;  // 2^52

template <typename Better>
double BestDouble(double best, std::span<const double> values, Better better) {
  size_t i = 0;
  double lanes[kLanes];
  std::fill(lanes, lanes + kLanes, best);
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k)
      lanes[k] = better(values[i + k], lanes[k]) ? values[i + k] : lanes[k];
  }
  double out = best;
  for (double lane : lanes) out = better(lane, out) ? lane : out;
  for (; i < values.size(); ++i) out = better(values[i], out) ? values[i] : out;
  if (out != 0) return out;
  // 0.0 and -0.0 are equal, so the first of them must be returned. This loop compares the values in
  // order.
  out = best;
  for (double v : values) out = better(v, out) ? v : out;
  return out;
}

const IntKernels& Fastest() {
  static const IntKernels fastest = UsableIntKernels().back();
  return fastest;
}

}  // namespace

int64_t CountNumbers(std::span<const double> values) {
  int64_t n = 0;
  for (double v : values) n += v == v ? 1 : 0;
  return n;
}

void AddChunk(std::span<const double> values, RunningSum* running) {
  double sum = running->sum;
  int64_t numbers = CountNumbers(values);
  if (numbers == static_cast<int64_t>(values.size())) {
    for (double v : values) sum += v;
  } else {
    for (double v : values) {
      if (!std::isnan(v)) sum += v;
    }
  }
  running->sum = sum;
  running->count += numbers;
}

void AddChunk(std::span<const int64_t> values, RunningSum* running) {
  running->count += static_cast<int64_t>(values.size());
  const IntTotal total = Fastest().total(values);
  double sum = running->sum;
  if (total.bits < kSmallInt && values.size() <= kShortRun && std::abs(sum) < kExactSum &&
      sum == std::trunc(sum)) {
    running->sum = sum + static_cast<double>(static_cast<int64_t>(total.sum));
    return;
  }
  for (int64_t v : values) sum += static_cast<double>(v);
  running->sum = sum;
}

double LeastOf(double least, std::span<const double> values) {
  return BestDouble(least, values, kLess);
}
double GreatestOf(double greatest, std::span<const double> values) {
  return BestDouble(greatest, values, kMore);
}

// Returns the minimum. Only the result is converted to double. This is correct because the
// conversion does not change the order of integers.
double LeastOf(double least, std::span<const int64_t> values) {
  if (values.empty()) return least;
  double v = static_cast<double>(Fastest().least(values));
  return v < least ? v : least;
}
double GreatestOf(double greatest, std::span<const int64_t> values) {
  if (values.empty()) return greatest;
  double v = static_cast<double>(Fastest().greatest(values));
  return v > greatest ? v : greatest;
}

}  // namespace hg::query
