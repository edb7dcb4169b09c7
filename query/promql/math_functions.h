#pragma once
// Functions of one number, and the arithmetic of operators.

#include <string_view>

#include "query/promql/syntax.h"

namespace hg::query::promql {

using MathFunction = double (*)(double);

/// Returns the function "abs", "ln", "sin" and so on, or nullptr for other names.
MathFunction FindMathFunction(std::string_view name);

/// Returns the multiple of `unit` that is nearest to the value. If two multiples are equally near,
/// it returns the larger one.
double RoundTo(double value, double unit);

// Least returns the minimum, Most the maximum. If one argument is NaN, the result is NaN, unless
// the other argument is the infinity that is below (for Most: above) all numbers.
double Least(double a, double b);
double Most(double a, double b);

/// Returns the result of an arithmetic operator.
double Compute(BinaryOperator op, double a, double b);
/// Returns the result of a comparison.
bool Holds(BinaryOperator op, double a, double b);

}  // namespace hg::query::promql
