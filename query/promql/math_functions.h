#pragma once
// PromQL functions of one number, and the arithmetic and comparison operators of PromQL.

#include <string_view>

#include "query/promql/syntax.h"

namespace hg::query::promql {

using MathFunction = double (*)(double);

/// Returns the PromQL function `name` ("abs", "ln", "sin" and so on), or nullptr for other names.
MathFunction FindMathFunction(std::string_view name);

/// Returns the multiple of `unit` that is nearest to `value`. If two multiples are equally near,
/// returns the larger of them.
double RoundTo(double value, double unit);

// Least returns the minimum of two numbers. Most returns the maximum. If one argument is NaN, the
// result is NaN, with two exceptions: Least of NaN and -Inf is -Inf, and Most of NaN and +Inf is
// +Inf.
double Least(double a, double b);
double Most(double a, double b);

/// Returns the result of the arithmetic operator `op` for two numbers.
double Compute(BinaryOperator op, double a, double b);
/// Returns whether the comparison `a op b` is true.
bool Holds(BinaryOperator op, double a, double b);

}  // namespace hg::query::promql
