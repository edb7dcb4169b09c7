#include "query/promql/math_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "storage/model/special_double.h"

namespace hg::query::promql {
namespace {

constexpr double kDegreesOfHalfTurn = 180;

double Sign(double x) { return x < 0 ? -1 : x > 0 ? 1 : x; }

struct MathName {
  std::string_view name;
  MathFunction function;
};
constexpr MathName kMathFunctions[] = {
    {"abs", [](double x) { return std::fabs(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"asinh", [](double x) { return std::asinh(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"atanh", [](double x) { return std::atanh(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"deg", [](double x) { return x * (kDegreesOfHalfTurn / std::numbers::pi); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ln", [](double x) { return std::log(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"rad", [](double x) { return x * (std::numbers::pi / kDegreesOfHalfTurn); }},
    {"sgn", Sign},
    {"sin", [](double x) { return std::sin(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
};

}  // namespace

MathFunction FindMathFunction(std::string_view name) {
  for (const MathName& named : kMathFunctions) {
    if (named.name == name) return named.function;
  }
  return nullptr;
}

double RoundTo(double value, double unit) {
  // The value is multiplied by the inverse and not divided by `unit`, so that tenths are exact.
  const double inverse = 1 / unit;
  return std::floor(value * inverse + 0.5) / inverse;
}

double Least(double a, double b) {
  if (a == -kInfinity || b == -kInfinity) return -kInfinity;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double Most(double a, double b) { return -Least(-a, -b); }

double Compute(BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::kAdd:
      return a + b;
    case BinaryOperator::kSubtract:
      return a - b;
    case BinaryOperator::kMultiply:
      return a * b;
    case BinaryOperator::kDivide:
      return a / b;
    case BinaryOperator::kModulo:
      return std::fmod(a, b);
    case BinaryOperator::kPower:
      return std::pow(a, b);
    case BinaryOperator::kAtan2:
      return std::atan2(a, b);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

bool Holds(BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::kEqual:
      return a == b;
    case BinaryOperator::kNotEqual:
      return a != b;
    case BinaryOperator::kLess:
      return a < b;
    case BinaryOperator::kLessOrEqual:
      return a <= b;
    case BinaryOperator::kGreater:
      return a > b;
    case BinaryOperator::kGreaterOrEqual:
      return a >= b;
    default:
      return false;
  }
}

}  // namespace hg::query::promql
