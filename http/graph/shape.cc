#include "http/graph/shape.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hg::http::graph {
namespace {

/// Returns the point at `time_ms` on the line between two points.
Point Between(const Point& a, const Point& b, int64_t time_ms) {
  const double part =
      static_cast<double>(time_ms - a.time_ms) / static_cast<double>(b.time_ms - a.time_ms);
  return {time_ms, a.value + part * (b.value - a.value)};
}

std::vector<Point> Fewer(std::vector<Point> points, int64_t begin_ms, int64_t end_ms, int columns);

}  // namespace

std::vector<Point> Reduced(const std::vector<Point>& points, int64_t begin_ms, int64_t end_ms,
                           int columns) {
  const auto before = [](const Point& p, int64_t time_ms) { return p.time_ms < time_ms; };
  const auto after = [](int64_t time_ms, const Point& p) { return time_ms < p.time_ms; };
  auto first = std::lower_bound(points.begin(), points.end(), begin_ms, before);
  auto last = std::upper_bound(points.begin(), points.end(), end_ms, after);
  if (first != points.begin()) --first;
  if (last != points.end()) ++last;
  std::vector<Point> near(first, last);
  const int64_t span = end_ms - begin_ms;
  const size_t n = near.size();
  if (n > 1 && near[0].time_ms < begin_ms - span && near[1].time_ms > begin_ms - span)
    near[0] = Between(near[0], near[1], begin_ms - span);
  if (n > 1 && near[n - 1].time_ms > end_ms + span && near[n - 2].time_ms < end_ms + span)
    near[n - 1] = Between(near[n - 2], near[n - 1], end_ms + span);
  return Fewer(std::move(near), begin_ms, end_ms, columns);
}

namespace {

std::vector<Point> Fewer(std::vector<Point> points, int64_t begin_ms, int64_t end_ms, int columns) {
  if (points.size() <= size_t{4} * static_cast<size_t>(columns)) return points;
  auto first = points.begin();
  const auto last = points.end();
  const double width = std::max(1.0, static_cast<double>(end_ms - begin_ms) / columns);
  const auto column = [&](const Point& p) {
    return std::floor(static_cast<double>(p.time_ms - begin_ms) / width);
  };
  std::vector<Point> out;
  while (first != last) {
    const double here = column(*first);
    const auto end = std::find_if(first, last, [&](const Point& p) { return column(p) != here; });
    const auto [low, high] = std::minmax_element(
        first, end, [](const Point& a, const Point& b) { return a.value < b.value; });
    std::array kept = {first, low, high, end - 1};
    std::sort(kept.begin(), kept.end());
    const auto stop = std::unique(kept.begin(), kept.end());
    for (auto it = kept.begin(); it != stop; ++it) out.push_back(**it);
    first = end;
  }
  return out;
}

}  // namespace

std::vector<Point> Accumulated(std::vector<Point> points) {
  double sum = 0;
  for (Point& p : points) p.value = sum += p.value;
  return points;
}

std::vector<double> MonotoneSlopes(std::span<const Point> points) {
  std::vector<double> slopes(points.size(), 0);
  if (points.size() < 2) return slopes;
  std::vector<double> rises;  // slopes between neighbouring points
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const auto time = static_cast<double>(points[i + 1].time_ms - points[i].time_ms);
    rises.push_back(time > 0 ? (points[i + 1].value - points[i].value) / time : 0);
  }
  slopes.front() = rises.front();
  slopes.back() = rises.back();
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const double left = rises[i - 1], right = rises[i];
    slopes[i] = left * right <= 0 ? 0 : 2 * left * right / (left + right);
  }
  return slopes;
}

}  // namespace hg::http::graph
