#pragma once
// Transformations of the points of a line before drawing. All functions are pure.

#include <cstdint>
#include <span>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

/// Removes points that have no effect in a plot that is `columns` pixels wide. In each column of
/// pixels, the first, lowest, highest and last point stay, in their order, so that the drawn line
/// looks the same. Points outside the time range are removed, except the nearest point on each
/// side, to which a line is drawn. If the distance of such a point from the range is greater than
/// the length of the range, the point is moved along its line until the distance equals this
/// length.
std::vector<Point> Reduced(const std::vector<Point>& points, int64_t begin_ms, int64_t end_ms,
                           int columns);

/// Replaces each value by the sum of this value and all values before it.
std::vector<Point> Accumulated(std::vector<Point> points);

/// Computes a curve that goes through all points and does not overshoot (monotone cubic of Fritsch
/// and Carlson). Returns the slope of the curve at each point, in units of the value per
/// millisecond.
std::vector<double> MonotoneSlopes(std::span<const Point> points);

}  // namespace hg::http::graph
