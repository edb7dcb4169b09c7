#pragma once
// Aggregations that look at the samples of a group side by side: topk, bottomk, quantile,
// count_values.

#include <string>

#include "query/promql/value.h"

namespace hg::query::promql {

/// topk and bottomk: of each group the series with the largest (smallest) samples at each step,
/// NaN last. At a single step they are in this order. InvalidArgument: a count that is no int64.
Result<Value> PickOfGroups(const Aggregation& aggregation, const Column& counts, Value vector,
                           const Steps& steps, MemoryTally* tally);

Result<Value> QuantilesOfGroups(const Aggregation& aggregation, const Column& phis,
                                const Value& vector, const Steps& steps, MemoryTally* tally);

/// How many series of a group have each value, which becomes a label.
Result<Value> CountValues(const Aggregation& aggregation, const std::string& label,
                          const Value& vector, const Steps& steps, MemoryTally* tally);

}  // namespace hg::query::promql
