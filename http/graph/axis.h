#pragma once
// Scales: which part of the numbers is shown, where the marks stand and what they say. Pure.

#include <cstdint>
#include <string>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

struct Mark {
  double at = 0;  // 0…1 along the axis
  std::string text;
};

/// A value axis over its numbers.
class ValueScale {
 public:
  /// `low`, `high`: of the points; equal or none (low > high) is widened. `marks`: about how many
  /// there is room for, at least 2.
  ValueScale(const ValueAxis& axis, double low, double high, int marks);

  /// 0…1 from the low end to the high one; beyond outside. Values that a logarithm does not have
  /// are far below 0.
  [[nodiscard]] double At(double value) const;
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

 private:
  void MarkLinear(const ValueAxis& axis, int marks);
  void MarkLogarithmic(const ValueAxis& axis, int marks);

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<Mark> marks_;
};

/// Marks of a time axis, at full hours, days … of the zone. `marks`: about how many fit.
std::vector<Mark> TimeMarks(int64_t begin_ms, int64_t end_ms, const query::TimeZone& zone,
                            int marks);

/// A number the way the axis' format says; plain and short without one. `step`: the distance to the
/// next mark, which decides the digits.
std::string NumberLabel(const std::string& format, double value, double step);

}  // namespace hg::http::graph
