#include "query/promql/range_functions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "query/promql/exact_sum.h"
#include "query/promql/quantile.h"
#include "query/promql/rate_functions.h"
#include "storage/model/special_double.h"

namespace hg::query::promql {
namespace {

using Answer = std::optional<double>;

Answer SumOverTime(const Window& window) {
  ExactSum sum;
  for (const double value : window.values) sum.Add(value);
  return sum.total();
}

double CountOf(const Window& window) {
  if (window.counts.empty()) return static_cast<double>(window.size());
  return std::accumulate(window.counts.begin(), window.counts.end(), 0.0);
}

Answer AvgOverTime(const Window& window) {
  if (!window.counts.empty()) return *SumOverTime(window) / CountOf(window);
  ExactMean mean;
  for (const double value : window.values) mean.Add(value);
  return mean.mean();
}

template <typename Better>
double Best(const Window& window, Better better) {
  // The result is NaN only if all values are NaN.
  size_t i = 0;
  while (i + 1 < window.size() && std::isnan(window.values[i])) ++i;
  double best = window.values[i];
  for (const double value : window.values.subspan(i + 1)) best = better(value, best) ? value : best;
  return best;
}
Answer MinOverTime(const Window& window) { return Best(window, std::less<>()); }
Answer MaxOverTime(const Window& window) { return Best(window, std::greater<>()); }

Answer CountOverTime(const Window& window) { return CountOf(window); }
Answer FirstOverTime(const Window& window) { return window.values.front(); }
Answer LastOverTime(const Window& window) { return window.values.back(); }
Answer PresentOverTime(const Window&) { return 1; }

// Computes the variance by Welford's method with compensated rounding errors.
Answer StdvarOverTime(const Window& window) {
  ExactSum mean, squares;
  double count = 0;
  for (const double value : window.values) {
    ++count;
    const double delta = value - mean.total();
    mean.Add(delta / count);
    squares.Add(delta * (value - mean.total()));
  }
  return squares.total() / count;
}
Answer StddevOverTime(const Window& window) { return std::sqrt(*StdvarOverTime(window)); }

Answer QuantileOverTime(const Window& window) {
  std::vector<double> values(window.values.begin(), window.values.end());
  return Quantile(window.first, &values);
}

Answer Changes(const Window& window) {
  int changes = 0;
  for (size_t i = 1; i < window.size(); ++i) {
    const double before = window.values[i - 1], value = window.values[i];
    changes += value != before && !(std::isnan(value) && std::isnan(before));
  }
  return changes;
}

Answer Resets(const Window& window) {
  int resets = 0;
  for (size_t i = 1; i < window.size(); ++i) resets += window.values[i] < window.values[i - 1];
  return resets;
}

Answer Deriv(const Window& window) {
  if (window.size() < 2) return {};
  return FitLine(window, window.times_ms.front()).slope;
}

Answer PredictLinear(const Window& window) {
  if (window.size() < 2) return {};
  const Line line = FitLine(window, window.now_ms);
  return line.slope * window.first + line.intercept;
}

// Computes Holt's double exponential smoothing. window.first is the smoothing factor of the level,
// and window.second the smoothing factor of the trend.
Answer DoubleExponentialSmoothing(const Window& window) {
  if (window.size() < 2) return {};
  const double level_factor = window.first, trend_factor = window.second;
  double before = 0, level = window.values[0], trend = window.values[1] - window.values[0];
  for (size_t i = 1; i < window.size(); ++i) {
    const double scaled = level_factor * window.values[i];
    if (i > 1) trend = trend_factor * (level - before) + (1 - trend_factor) * trend;
    before = level;
    level = scaled + (1 - level_factor) * (level + trend);
  }
  return level;
}

struct RangeName {
  std::string_view name;
  RangeFunction function;
};
constexpr RangeName kRangeFunctions[] = {
    {"avg_over_time", AvgOverTime},
    {"changes", Changes},
    {"count_over_time", CountOverTime},
    {"delta", Delta},
    {"deriv", Deriv},
    {"double_exponential_smoothing", DoubleExponentialSmoothing},
    {"first_over_time", FirstOverTime},
    {"holt_winters", DoubleExponentialSmoothing},
    {"idelta", InstantDelta},
    {"increase", Increase},
    {"irate", InstantRate},
    {"last_over_time", LastOverTime},
    {"max_over_time", MaxOverTime},
    {"min_over_time", MinOverTime},
    {"predict_linear", PredictLinear},
    {"present_over_time", PresentOverTime},
    {"quantile_over_time", QuantileOverTime},
    {"rate", Rate},
    {"resets", Resets},
    {"stddev_over_time", StddevOverTime},
    {"stdvar_over_time", StdvarOverTime},
    {"sum_over_time", SumOverTime},
};

}  // namespace

RangeFunction FindRangeFunction(std::string_view name) {
  for (const RangeName& named : kRangeFunctions) {
    if (named.name == name) return named.function;
  }
  return nullptr;
}

RolledValue RolledValueFor(std::string_view name) {
  if (name == "sum_over_time" || name == "avg_over_time") return RolledValue::kSum;
  if (name == "count_over_time") return RolledValue::kCount;
  if (name == "min_over_time") return RolledValue::kLeast;
  for (const std::string_view counting : {"max_over_time", "rate", "irate", "increase", "resets"})
    if (name == counting) return RolledValue::kMost;
  return RolledValue::kMean;
}

Line FitLine(const Window& window, int64_t origin_ms) {
  const double first = window.values.front();
  if (std::all_of(window.values.begin(), window.values.end(),
                  [&](double value) { return value == first; })) {
    // All values are equal. For them the formulas below would give a slope that is only a rounding
    // error.
    if (std::isinf(first)) return {kNan, kNan};
    return {0, first};
  }
  ExactSum x_sum, y_sum, xy_sum, xx_sum;
  for (size_t i = 0; i < window.size(); ++i) {
    const double x = static_cast<double>(window.times_ms[i] - origin_ms) / 1000;
    const double y = window.values[i];
    x_sum.Add(x);
    y_sum.Add(y);
    xy_sum.Add(x * y);
    xx_sum.Add(x * x);
  }
  const auto count = static_cast<double>(window.size());
  const double xs = x_sum.total(), ys = y_sum.total();
  const double covariance = xy_sum.total() - xs * ys / count;
  const double variance = xx_sum.total() - xs * xs / count;
  const double slope = covariance / variance;
  return {slope, ys / count - slope * xs / count};
}

}  // namespace hg::query::promql
