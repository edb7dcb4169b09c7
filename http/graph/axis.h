#pragma once
// Axis scales: the visible range of values, and positions and labels of the tick marks. Pure
// functions.

#include <cstdint>
#include <string>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

struct Mark {
  double at = 0;  // position along the axis, 0…1
  std::string text;
};

/// Maps values to positions on a value axis.
class ValueScale {
 public:
  /// `low`, `high`: range of the points. A range that is empty (low > high) or of one value is
  /// widened. `marks`: approximate number of tick marks that fit, at least 2.
  ValueScale(const ValueAxis& axis, double low, double high, int marks);

  /// The position of a value: 0 at the low end, 1 at the high end; values out of range lie beyond.
  /// On a logarithmic axis, values that have no logarithm are far below 0.
  [[nodiscard]] double At(double value) const;
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

 private:
  void MarkLinear(const ValueAxis& axis, int marks);
  void MarkLogarithmic(const ValueAxis& axis, int marks);

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<Mark> marks_;
};

/// Tick marks of a time axis at full hours, days … of the zone. `marks`: approximate number that
/// fits.
std::vector<Mark> TimeMarks(int64_t begin_ms, int64_t end_ms, const query::TimeZone& zone,
                            int marks);

/// Formats a number by the axis' format; without one, plain and short. `step`: distance between
/// tick marks, which decides the number of digits.
std::string NumberLabel(const std::string& format, double value, double step);

}  // namespace hg::http::graph
