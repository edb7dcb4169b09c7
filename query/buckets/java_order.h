#pragma once
// Compares doubles as Java does (Double.compare): -0.0 is before 0.0, and NaN is after all others.

#include <cmath>

namespace hg::query {

inline bool JavaLess(double a, double b) {
  if (a == b) return std::signbit(a) && !std::signbit(b);
  return a < b || (std::isnan(b) && !std::isnan(a));
}

}  // namespace hg::query
