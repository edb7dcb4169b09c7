#pragma once
// Scales of axes: the visible range of values, and the positions and labels of tick marks. Pure
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
  /// `low` and `high` are the range of the points. A range that is empty (low > high) or has only
  /// one value is widened. `marks` is the approximate number of tick marks that fit, at least 2.
  ValueScale(const ValueAxis& axis, double low, double high, int marks);

  /// Returns the position of a value: 0 at the low end, 1 at the high end. Values outside the range
  /// are below 0 or above 1. On a logarithmic axis, values without a logarithm are far below 0.
  [[nodiscard]] double At(double value) const;
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

 private:
  void MarkLinear(const ValueAxis& axis, int marks);
  void MarkLogarithmic(const ValueAxis& axis, int marks);

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<Mark> marks_;
};

/// Returns the tick marks of a time axis at full hours, days and so on of the time zone. `marks` is
/// the approximate number of marks that fit.
std::vector<Mark> TimeMarks(int64_t begin_ms, int64_t end_ms, const query::TimeZone& zone,
                            int marks);

/// Formats a number in the format of the axis; if there is none, in a short form. `step` is the
/// distance between tick marks, which determines the number of digits.
std::string NumberLabel(const std::string& format, double value, double step);

}  // namespace hg::http::graph
