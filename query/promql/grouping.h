#pragma once
// Divides the series of a vector into the groups of an aggregation.

#include <vector>

#include "query/promql/value.h"

namespace hg::query::promql {

struct SeriesGroups {
  std::vector<size_t> group_of;  // the group of each series of the vector
  std::vector<Labels> labels;    // the labels of each group, in order of appearance
  MemoryHold memory;
};

/// Divides the series. Charges the groups to `tally` and fails with its errors.
Result<SeriesGroups> GroupSeries(const Value& vector, const Grouping& grouping, MemoryTally* tally);

/// Returns the labels that an aggregation keeps.
Labels GroupLabels(Labels labels, const Grouping& grouping);

}  // namespace hg::query::promql
