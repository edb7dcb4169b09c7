#pragma once
// How counters and gauges change over a window (range_functions.h). A counter that falls was
// reset, and has counted from 0 since. Pure.

#include <optional>

#include "query/promql/range_functions.h"

namespace hg::query::promql {

// Change from the first to the last sample, stretched to the ends of the window: none with less
// than two samples. Increase and Rate are of counters, Rate is per second.
std::optional<double> Delta(const Window& window);
std::optional<double> Increase(const Window& window);
std::optional<double> Rate(const Window& window);

// Change between the last two samples; InstantRate is of counters and per second.
std::optional<double> InstantDelta(const Window& window);
std::optional<double> InstantRate(const Window& window);

}  // namespace hg::query::promql
