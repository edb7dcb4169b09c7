#pragma once
// Functions of one number, and the arithmetic of operators. Pure.

#include <string_view>

#include "query/promql/syntax.h"

namespace hg::query::promql {

using MathFunction = double (*)(double);

/// "abs", "ln", "sin" and so on; nullptr: it is none.
MathFunction FindMathFunction(std::string_view name);

/// The multiple of `unit` that is nearest to the value, the larger one of two.
double RoundTo(double value, double unit);

// The smaller and the larger one; NaN if one is, unless the other is the infinity of that side.
double Least(double a, double b);
double Most(double a, double b);

/// Of an arithmetic operator.
double Compute(BinaryOperator op, double a, double b);
/// Of a comparison.
bool Holds(BinaryOperator op, double a, double b);

}  // namespace hg::query::promql
