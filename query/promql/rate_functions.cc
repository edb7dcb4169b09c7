#include "query/promql/rate_functions.h"

#include <algorithm>

namespace hg::query::promql {
namespace {

double Seconds(int64_t ms) { return static_cast<double>(ms) / 1000; }

/// If the first sample is within this many sample intervals of the start of the window, the series
/// is extrapolated to the start. The same applies to the last sample and the end. Otherwise it is
/// extrapolated by half a sample interval.
constexpr double kCloseDistances = 1.1;

double Extrapolation(double to_end, double distance) {
  return to_end < distance * kCloseDistances ? to_end : distance / 2;
}

double ChangeOf(const Window& window, bool counter) {
  double change = window.values.back() - window.values.front();
  if (!counter) return change;
  for (size_t i = 1; i < window.size(); ++i) {
    if (window.values[i] < window.values[i - 1]) change += window.values[i - 1];
  }
  return change;
}

std::optional<double> Extrapolated(const Window& window, bool counter, bool per_second) {
  if (window.size() < 2) return {};
  const double change = ChangeOf(window, counter);
  const double sampled = Seconds(window.times_ms.back() - window.times_ms.front());
  const double distance = sampled / static_cast<double>(window.size() - 1);
  double to_begin = Extrapolation(Seconds(window.times_ms.front() - window.begin_ms), distance);
  const double to_end = Extrapolation(Seconds(window.end_ms - window.times_ms.back()), distance);
  const double first = window.values.front();
  if (counter && change > 0 && first >= 0) {
    // A counter is never below 0. So the extrapolation goes back at most to the time at which the
    // line reaches 0.
    to_begin = std::min(to_begin, sampled * (first / change));
  }
  double factor = (sampled + to_begin + to_end) / sampled;
  if (per_second) factor /= Seconds(window.end_ms - window.begin_ms);
  return change * factor;
}

std::optional<double> LastTwo(const Window& window, bool counter_per_second) {
  if (window.size() < 2) return {};
  const size_t last = window.size() - 1;
  const double before = window.values[last - 1], value = window.values[last];
  if (!counter_per_second) return value - before;
  return (value < before ? value : value - before) /
         Seconds(window.times_ms[last] - window.times_ms[last - 1]);
}

}  // namespace

std::optional<double> Delta(const Window& window) { return Extrapolated(window, false, false); }
std::optional<double> Increase(const Window& window) { return Extrapolated(window, true, false); }
std::optional<double> Rate(const Window& window) { return Extrapolated(window, true, true); }
std::optional<double> InstantDelta(const Window& window) { return LastTwo(window, false); }
std::optional<double> InstantRate(const Window& window) { return LastTwo(window, true); }

}  // namespace hg::query::promql
