#pragma once
// Compares doubles in the order of Java's Double.compare: -0.0 is less than 0.0, and NaN is greater
// than all other values.

#include <cmath>

namespace hg::query {

inline bool JavaLess(double a, double b) {
  if (a == b) return std::signbit(a) && !std::signbit(b);
  return a < b || (std::isnan(b) && !std::isnan(a));
}

}  // namespace hg::query
