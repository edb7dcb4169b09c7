// The PromQL operators of two scalars, and of a vector and a scalar. vector_matching.h has the
// operators of two vectors.

#include <utility>

#include "query/promql/evaluator.h"
#include "query/promql/math_functions.h"
#include "query/promql/vector_matching.h"

namespace hg::query::promql {
namespace {

double ScalarResult(BinaryOperator op, double left, double right) {
  if (IsComparison(op)) return Holds(op, left, right) ? 1 : 0;
  return Compute(op, left, right);
}

/// Applies an operator to each sample of the vector and the scalar. `scalar_left` is true if the
/// scalar is the left operand. A comparison keeps the samples of the vector for which it is true.
Result<Value> WithScalar(const Binary& binary, Value vector, const Column& scalar, bool scalar_left,
                         const Steps& steps, MemoryTally* tally) {
  for (VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(ForEachStep(steps.count, tally, [&](size_t i) {
      double& value = series.values[i];
      if (IsAbsent(value)) return;
      const double left = scalar_left ? scalar[i] : value;
      const double right = scalar_left ? value : scalar[i];
      if (!IsComparison(binary.op)) {
        value = Compute(binary.op, left, right);
        return;
      }
      const bool holds = Holds(binary.op, left, right);
      if (binary.returns_bool) {
        value = holds ? 1 : 0;
      } else if (!holds) {
        value = Absent();
      }
    }));
  }
  if (DropsName(binary.op) || binary.returns_bool)
    RETURN_IF_ERROR(DropNames(steps, tally, &vector));
  return vector;
}

}  // namespace

Result<Value> EvaluateBinary(const Binary& binary, const Steps& steps, Evaluator* evaluator) {
  ASSIGN_OR_RETURN(Value left, evaluator->Evaluate(*binary.left, steps));
  ASSIGN_OR_RETURN(Value right, evaluator->Evaluate(*binary.right, steps));
  MemoryTally& tally = evaluator->memory();
  const bool left_scalar = left.type == ValueType::kScalar;
  const bool right_scalar = right.type == ValueType::kScalar;
  if (left_scalar && right_scalar) {
    return MakeScalar(steps.count, &tally, [&](size_t i) {
      return ScalarResult(binary.op, left.scalar[i], right.scalar[i]);
    });
  }
  if (left_scalar) return WithScalar(binary, std::move(right), left.scalar, true, steps, &tally);
  if (right_scalar) return WithScalar(binary, std::move(left), right.scalar, false, steps, &tally);
  if (IsSetOperator(binary.op))
    return CombineSets(binary, std::move(left), std::move(right), steps, &tally);
  return CombineVectors(binary, left, right, steps, &tally);
}

}  // namespace hg::query::promql
