#pragma once
// What is done to a line's points before they are drawn. Pure.

#include <cstdint>
#include <vector>

#include "http/graph/plot.h"

namespace hg::http::graph {

/// Of the points that fall on one of `columns` columns of the range the first, the lowest, the
/// highest and the last, in order: drawn, they look like all. Points out of range go but for the
/// nearest on either side, from which lines come in; one that is farther away than the range is
/// long moves up to there along its line.
std::vector<Point> Reduced(const std::vector<Point>& points, int64_t begin_ms, int64_t end_ms,
                           int columns);

/// The points with their running sum as values.
std::vector<Point> Accumulated(std::vector<Point> points);

/// Slopes (units per ms) of a curve through all points that swings beyond none of them (Fritsch and
/// Carlson's monotone cubic).
std::vector<double> MonotoneSlopes(const std::vector<Point>& points);

}  // namespace hg::http::graph
