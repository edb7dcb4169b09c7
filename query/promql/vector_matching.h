#pragma once
// Operators of two vectors. Labels decide which series belong together. Each step combines the
// samples that exist at it.

#include "query/promql/value.h"

namespace hg::query::promql {

/// Arithmetic and comparisons. InvalidArgument: several series of a side match where only one may,
/// or several results have equal labels.
Result<Value> CombineVectors(const Binary& binary, const Value& left, const Value& right,
                             const Steps& steps, MemoryTally* tally);

/// The operators and, or, unless.
Result<Value> CombineSets(const Binary& binary, Value left, Value right, const Steps& steps,
                          MemoryTally* tally);

}  // namespace hg::query::promql
