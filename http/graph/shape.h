#pragma once
// Transformations of a line's points before drawing. Pure functions.

#include <cstdint>
#include <span>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

/// Removes points that have no effect in a plot of `columns` columns. In each column the first,
/// lowest, highest and last point stay, in order, so that the drawn line looks the same. Points out
/// of range are removed, except the nearest ones on both sides, to which lines are drawn. If such a
/// point is farther away than the length of the range, it moves along its line to that distance.
std::vector<Point> Reduced(const std::vector<Point>& points, int64_t begin_ms, int64_t end_ms,
                           int columns);

/// Replaces the values by their running sum.
std::vector<Point> Accumulated(std::vector<Point> points);

/// Returns the slopes (units per ms) at the points of a curve through all points that does not
/// overshoot (monotone cubic of Fritsch and Carlson).
std::vector<double> MonotoneSlopes(std::span<const Point> points);

}  // namespace hg::http::graph
