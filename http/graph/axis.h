#pragma once
// Scales of axes in plots: the visible range of values, and the positions and labels of tick marks.
// All functions are pure.

#include <cstdint>
#include <string>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

struct Mark {
  double at = 0;  // position of the mark on the axis, from 0 to 1
  std::string text;
};

/// Converts values to positions on a value axis.
class ValueScale {
 public:
  /// `low` and `high` are the lowest and the highest value of the points. If low > high (there are
  /// no points) or low = high, the scale widens this range. The limits of `axis` have precedence
  /// over the range. `marks` is the approximate number of tick marks that fit on the axis.
  ValueScale(const ValueAxis& axis, double low, double high, int marks);

  /// Returns the position of a value: 0 at the low end of the axis, 1 at the high end. The position
  /// of a value outside the range of the axis is below 0 or above 1. On a logarithmic axis, the
  /// position of a value that is not positive is far below 0.
  [[nodiscard]] double At(double value) const;
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }

 private:
  void MarkLinear(const ValueAxis& axis, int marks);
  void MarkLogarithmic(const ValueAxis& axis, int marks);

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<Mark> marks_;
};

/// Returns the tick marks of a time axis. The marks are at full hours, full days and so on of the
/// time zone. `marks` is the approximate number of marks that fit on the axis.
std::vector<Mark> TimeMarks(int64_t begin_ms, int64_t end_ms, const query::TimeZone& zone,
                            int marks);

/// Returns the text of a number in the format `format` (ValueAxis::format). If `format` is "",
/// returns a short form, in which the number of digits depends on `step`, the distance between two
/// tick marks in units of the value.
std::string NumberLabel(const std::string& format, double value, double step);

}  // namespace hg::http::graph
