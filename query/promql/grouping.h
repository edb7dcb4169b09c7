#pragma once
// Divides the series of a vector into the groups of a PromQL aggregation.

#include <vector>

#include "query/promql/value.h"

namespace hg::query::promql {

struct SeriesGroups {
  std::vector<size_t> group_of;  // for each series of the vector, the index of its group
  std::vector<Labels> labels;    // the labels of each group, in order of first use
  MemoryHold memory;
};

/// Divides the series of `vector` into groups by their labels. Charges the groups to `tally`, and
/// returns the errors of `tally`.
Result<SeriesGroups> GroupSeries(const Value& vector, const Grouping& grouping, MemoryTally* tally);

/// Returns the labels of a series that remain in the result of an aggregation.
Labels GroupLabels(Labels labels, const Grouping& grouping);

}  // namespace hg::query::promql
