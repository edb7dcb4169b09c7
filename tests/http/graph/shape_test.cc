#include "http/graph/shape.h"

#include <doctest/doctest.h>

namespace hg::http::graph {
namespace {

TEST_CASE("a million points are reduced to a few per column, with every peak") {
  std::vector<Point> points;
  for (int i = 0; i < 1'000'000; ++i) points.push_back({i, i == 123'456 ? 1e6 : double(i % 10)});
  const std::vector<Point> fewer = Reduced(points, 0, 999'999, 500);
  CHECK(fewer.size() <= 4 * 502);
  CHECK(fewer.front().time_ms == 0);
  CHECK(fewer.back().time_ms == 999'999);
  bool peak = false;
  for (size_t i = 0; i < fewer.size(); ++i) {
    peak |= fewer[i].value == 1e6;
    if (i > 0) CHECK(fewer[i - 1].time_ms < fewer[i].time_ms);
  }
  CHECK(peak);
}

TEST_CASE(
    "few points are not reduced; points out of range are removed, except the one next to "
    "each end") {
  const std::vector<Point> points = {{0, 1}, {10, 2}, {20, 3}, {30, 4}, {40, 5}};
  const std::vector<Point> seen = Reduced(points, 15, 25, 100);
  REQUIRE(seen.size() == 3);
  CHECK(seen.front().time_ms == 10);
  CHECK(seen.back().time_ms == 30);
  CHECK(Reduced({}, 0, 1, 100).empty());
}

TEST_CASE("the point next to the range is moved closer along its line if it is far away") {
  const std::vector<Point> seen = Reduced({{0, 0}, {1'000'000, 1000}}, 999'000, 1'000'000, 100);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].time_ms == 998'000);
  CHECK(seen[0].value == doctest::Approx(998));
}

TEST_CASE("Accumulated returns the running sums") {
  const std::vector<Point> sums = Accumulated({{0, 1}, {1, 2}, {2, -4}});
  CHECK(sums[1].value == 3);
  CHECK(sums[2].value == -1);
}

TEST_CASE("a smooth curve is flat at peaks, so that it does not overshoot") {
  const std::vector<double> slopes =
      MonotoneSlopes(std::vector<Point>{{0, 0}, {10, 5}, {20, 0}, {30, 0}});
  CHECK(slopes[1] == 0);
  CHECK(slopes[2] == 0);
  CHECK(MonotoneSlopes(std::vector<Point>{{0, 1}}) == std::vector<double>{0});
}

}  // namespace
}  // namespace hg::http::graph
