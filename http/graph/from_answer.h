#pragma once
// Converts a query result to a plot. Pure functions.

#include <vector>

#include "http/graph/plot.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"

namespace hg::http::graph {

/// One line per group, titled by metric and tags. Values that are not finite are left out.
/// `second_axis`: for each sub-query, whether the right axis applies; missing entries mean no.
Plot PlotOf(const query::ValidQuery& query, const query::Answer& answer, Style style,
            query::TimeZone zone, const std::vector<bool>& second_axis);

}  // namespace hg::http::graph
