#pragma once
// Converts a query result to a plot. Pure functions.

#include <vector>

#include "http/graph/plot.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"

namespace hg::http::graph {

/// Returns a plot with one line for each group. The title of a line is its metric and tags. Values
/// that are not finite are left out. `second_axis`: by sub-query, whether to use the right axis.
Plot PlotOf(const query::ValidQuery& query, const query::Answer& answer, Style style,
            query::TimeZone zone, const std::vector<bool>& second_axis);

}  // namespace hg::http::graph
