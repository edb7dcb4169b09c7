#pragma once
// Divides the series of a vector into the groups of an aggregation.

#include <vector>

#include "query/promql/value.h"

namespace hg::query::promql {

struct SeriesGroups {
  std::vector<size_t> group_of;  // for each series of the vector, the index of its group
  std::vector<Labels> labels;    // the labels of each group, in order of first use
  MemoryHold memory;
};

/// Divides the series into groups. Charges the groups to `tally`, and fails if `tally` reports an
/// error.
Result<SeriesGroups> GroupSeries(const Value& vector, const Grouping& grouping, MemoryTally* tally);

/// Returns those labels of a series that an aggregation keeps.
Labels GroupLabels(Labels labels, const Grouping& grouping);

}  // namespace hg::query::promql
