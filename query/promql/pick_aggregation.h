#pragma once
// The PromQL aggregations that need all samples of a group at the same time: topk, bottomk,
// quantile, count_values.

#include <string>

#include "query/promql/value.h"

namespace hg::query::promql {

/// Computes the aggregations topk and bottomk. At each step, topk keeps the series of each group
/// with the largest samples, and bottomk those with the smallest samples. `counts` is the number of
/// series to keep at each step. NaN is ranked last. If there is only one step, the series are
/// returned in the order of rank. InvalidArgument: a count does not fit into an int64.
Result<Value> PickOfGroups(const Aggregation& aggregation, const Column& counts, Value vector,
                           const Steps& steps, MemoryTally* tally);

Result<Value> QuantilesOfGroups(const Aggregation& aggregation, const Column& phis,
                                const Value& vector, const Steps& steps, MemoryTally* tally);

/// Computes the aggregation count_values: counts, for each value, the series of a group that have
/// this value. In the result, the label `label` contains the value.
Result<Value> CountValues(const Aggregation& aggregation, const std::string& label,
                          const Value& vector, const Steps& steps, MemoryTally* tally);

}  // namespace hg::query::promql
