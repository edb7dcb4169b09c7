#pragma once
// Converts a query result to a plot. All functions are pure.

#include <vector>

#include "http/graph/plot.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"

namespace hg::http::graph {

/// Returns a plot with one line for each group of the result. The title of a line contains the
/// metric and the tags of the group. Values that are not finite are left out. `second_axis` says
/// for each sub-query whether its lines use the right axis.
Plot PlotOf(const query::ValidQuery& query, const query::Answer& answer, Style style,
            query::TimeZone zone, const std::vector<bool>& second_axis);

}  // namespace hg::http::graph
