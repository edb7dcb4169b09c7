#pragma once
// Computes binary operators whose operands are two instant vectors. The labels decide which series
// of the two vectors are combined. At each step, only series that have a sample at that step are
// combined.

#include "query/promql/value.h"

namespace hg::query::promql {

/// Computes an arithmetic operator or a comparison. InvalidArgument: several series of one side
/// match although only one may match, or several results have equal labels.
Result<Value> CombineVectors(const Binary& binary, const Value& left, const Value& right,
                             const Steps& steps, MemoryTally* tally);

/// Computes one of the operators `and`, `or` and `unless`.
Result<Value> CombineSets(const Binary& binary, Value left, Value right, const Steps& steps,
                          MemoryTally* tally);

}  // namespace hg::query::promql
