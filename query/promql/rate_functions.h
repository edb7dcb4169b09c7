#pragma once
// Changes of counters and gauges over a window (range_functions.h). If a counter falls, it was
// reset and has counted from 0 since.

#include <optional>

#include "query/promql/range_functions.h"

namespace hg::query::promql {

// The change from the first to the last sample, extrapolated to the ends of the window. They return
// nullopt if there are fewer than two samples. Increase and Rate treat the values as a counter;
// Rate is per second.
std::optional<double> Delta(const Window& window);
std::optional<double> Increase(const Window& window);
std::optional<double> Rate(const Window& window);

// The change between the last two samples. InstantRate treats the values as a counter, and is per
// second.
std::optional<double> InstantDelta(const Window& window);
std::optional<double> InstantRate(const Window& window);

}  // namespace hg::query::promql
