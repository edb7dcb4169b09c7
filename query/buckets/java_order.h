#pragma once
// The order of doubles in Java (Double.compare): -0.0 comes before 0.0, and NaN after all others.

#include <cmath>

namespace hg::query {

inline bool JavaLess(double a, double b) {
  if (a == b) return std::signbit(a) && !std::signbit(b);
  return a < b || (std::isnan(b) && !std::isnan(a));
}

}  // namespace hg::query
