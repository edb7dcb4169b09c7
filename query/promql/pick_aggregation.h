#pragma once
// Aggregations that need all samples of a group at once: topk, bottomk, quantile, count_values.

#include <string>

#include "query/promql/value.h"

namespace hg::query::promql {

/// Computes topk and bottomk: keeps the series with the largest (smallest) samples of each group at
/// each step. NaN comes last. If there is a single step, the series are returned in this order.
/// InvalidArgument: a count does not fit an int64.
Result<Value> PickOfGroups(const Aggregation& aggregation, const Column& counts, Value vector,
                           const Steps& steps, MemoryTally* tally);

Result<Value> QuantilesOfGroups(const Aggregation& aggregation, const Column& phis,
                                const Value& vector, const Steps& steps, MemoryTally* tally);

/// Counts the series of a group that have equal values. The value becomes the label `label`.
Result<Value> CountValues(const Aggregation& aggregation, const std::string& label,
                          const Value& vector, const Steps& steps, MemoryTally* tally);

}  // namespace hg::query::promql
