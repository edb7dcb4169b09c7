#pragma once
// Functions that compute the change of counters and gauges over a window (range_functions.h). If
// the value of a counter falls, the counter is assumed to have restarted from 0.

#include <optional>

#include "query/promql/range_functions.h"

namespace hg::query::promql {

// Delta, Increase and Rate return the change from the first to the last sample of the window,
// extrapolated to the start and the end of the window. They return nullopt if there are fewer than
// two samples. Increase and Rate treat the values as a counter. Rate returns the change per second.
std::optional<double> Delta(const Window& window);
std::optional<double> Increase(const Window& window);
std::optional<double> Rate(const Window& window);

// InstantDelta and InstantRate return the change between the last two samples of the window, or
// nullopt if there are fewer than two samples. InstantRate treats the values as a counter, and
// returns the change per second.
std::optional<double> InstantDelta(const Window& window);
std::optional<double> InstantRate(const Window& window);

}  // namespace hg::query::promql
