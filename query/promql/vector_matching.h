#pragma once
// Operators of two vectors: which series belong together is decided by labels, step by step by the
// samples that there are.

#include "query/promql/value.h"

namespace hg::query::promql {

/// Arithmetic and comparisons. InvalidArgument: several series of one side match where one is
/// allowed, or results have the same labels.
Result<Value> CombineVectors(const Binary& binary, const Value& left, const Value& right,
                             const Steps& steps, MemoryTally* tally);

/// and, or, unless.
Result<Value> CombineSets(const Binary& binary, Value left, Value right, const Steps& steps,
                          MemoryTally* tally);

}  // namespace hg::query::promql
