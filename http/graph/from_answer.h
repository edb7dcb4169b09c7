#pragma once
// A query's answer as a plot. Pure.

#include <vector>

#include "http/graph/plot.h"
#include "query/answer.h"
#include "query/validate.h"

namespace hg::http::graph {

/// A line per group, titled by metric and tags; what is no number is left out. `second_axis`: by
/// sub-query, those measured on the right; may be shorter than there are sub-queries.
Plot PlotOf(const query::ValidQuery& query, const query::Answer& answer, Style style,
            query::TimeZone zone, const std::vector<bool>& second_axis);

}  // namespace hg::http::graph
