#pragma once
// Transformations of a line's points before drawing. Pure functions.

#include <cstdint>
#include <span>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

/// Reduces points to those that matter in a plot of `columns` columns. In each column it keeps the
/// first, lowest, highest and last point, in order, so that the drawn line looks the same. Points
/// out of range are dropped, except the nearest on either side, to which lines are drawn. If such a
/// point is farther away than the length of the range, it moves to that distance along its line.
std::vector<Point> Reduced(const std::vector<Point>& points, int64_t begin_ms, int64_t end_ms,
                           int columns);

/// Replaces the values by their running sum.
std::vector<Point> Accumulated(std::vector<Point> points);

/// Slopes (units per ms) at the points for a curve through all of them that does not overshoot
/// (Fritsch and Carlson's monotone cubic).
std::vector<double> MonotoneSlopes(std::span<const Point> points);

}  // namespace hg::http::graph
