#pragma once
// Operators of two vectors. Labels decide which series of the two vectors are combined. At each
// step, only series that have a sample at that step are used.

#include "query/promql/value.h"

namespace hg::query::promql {

/// Computes arithmetic and comparisons. InvalidArgument: several series of a side match although
/// only one may match, or several results have equal labels.
Result<Value> CombineVectors(const Binary& binary, const Value& left, const Value& right,
                             const Steps& steps, MemoryTally* tally);

/// Computes the operators `and`, `or` and `unless`.
Result<Value> CombineSets(const Binary& binary, Value left, Value right, const Steps& steps,
                          MemoryTally* tally);

}  // namespace hg::query::promql
