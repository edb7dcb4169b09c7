#pragma once
// Sums of doubles that store the rounding error separately (Neumaier, "Rundungsfehleranalyse
// einiger Verfahren zur Summation endlicher Summen", 1974). Prometheus uses this method for the
// sums and averages of aggregations, for the _over_time functions, and for the linear regression.

#include <cmath>

namespace hg::query::promql {

/// A running sum and the total of its rounding errors.
class ExactSum {
 public:
  void Add(double value) {
    const double sum = sum_ + value;
    if (std::isinf(sum)) {
      lost_ = 0;
    } else if (std::abs(sum_) >= std::abs(value)) {
      lost_ += (sum_ - sum) + value;
    } else {
      lost_ += (value - sum) + sum_;
    }
    sum_ = sum;
  }
  [[nodiscard]] double total() const { return sum_ + lost_; }
  [[nodiscard]] bool infinite() const { return std::isinf(sum_); }
  /// Multiplies the sum by a factor.
  void Scale(double factor) {
    sum_ *= factor;
    lost_ *= factor;
  }
  void Divide(double divisor) {
    sum_ /= divisor;
    lost_ /= divisor;
  }

 private:
  double sum_ = 0, lost_ = 0;
};

/// A running average. The object keeps a sum, and divides it by the count at the end. If the sum
/// exceeds the range of doubles, the object keeps the average instead, which is less exact.
class ExactMean {
 public:
  void Add(double value) {
    ++count_;
    if (!scaled_) {
      ExactSum sum = sum_;
      sum.Add(value);
      if (count_ == 1 || !sum.infinite()) {
        sum_ = sum;
        return;
      }
      scaled_ = true;
      sum_.Divide(count_ - 1);
    }
    sum_.Scale((count_ - 1) / count_);
    sum_.Add(value / count_);
  }
  /// Returns the average. At least one value must have been added.
  [[nodiscard]] double mean() const {
    if (scaled_) return sum_.total();
    ExactSum mean = sum_;
    mean.Divide(count_);
    return mean.total();
  }

 private:
  ExactSum sum_;
  double count_ = 0;
  bool scaled_ = false;
};

}  // namespace hg::query::promql
