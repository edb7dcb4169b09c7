#pragma once
// Adding doubles with what rounding loses kept beside the sum (Neumaier, "Rundungsfehleranalyse
// einiger Verfahren zur Summation endlicher Summen", 1974): what the _over_time functions and the
// linear regression of Prometheus add with.

#include <cmath>

namespace hg::query::promql {

/// Value type.
class ExactSum {
 public:
  void Add(double value) {
    const double sum = sum_ + value;
    if (std::abs(sum_) >= std::abs(value)) {
      lost_ += (sum_ - sum) + value;
    } else {
      lost_ += (value - sum) + sum_;
    }
    sum_ = sum;
  }
  [[nodiscard]] double total() const { return sum_ + lost_; }
  /// Without what rounding lost, which next to an infinity is NaN.
  [[nodiscard]] double rounded() const { return sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace hg::query::promql
