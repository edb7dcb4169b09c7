#pragma once
// Which series of a vector an aggregation takes together.

#include <vector>

#include "query/promql/value.h"

namespace hg::query::promql {

struct SeriesGroups {
  std::vector<size_t> group_of;  // for each series of the vector
  std::vector<Labels> labels;    // for each group, in the order in which they appear
};

SeriesGroups GroupSeries(const Value& vector, const Grouping& grouping);

/// What an aggregation leaves of labels.
Labels GroupLabels(Labels labels, const Grouping& grouping);

}  // namespace hg::query::promql
