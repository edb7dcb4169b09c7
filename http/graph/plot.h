#pragma once
// The contents and the style of a plot. They do not depend on the source of the data or on the
// drawing library.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/time/time_zone.h"

namespace hg::http::graph {

struct Point {
  int64_t time_ms = 0;
  double value = 0;  // value of the point; must be finite
};

struct Line {
  std::string title;          // title of the line; UTF-8, may contain any characters
  std::vector<Point> points;  // points in ascending order of time
  bool second_axis = false;   // whether the line uses the right axis
};

/// A color. Each component is in the range 0 to 255.
struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
};

enum class LineForm : uint8_t { kLines, kLinesAndPoints, kPoints, kCircles, kDots, kSteps, kBars };
enum class Smoothing : uint8_t { kNone, kCurve, kCumulative };
/// A position in one direction: at the start, in the center, or at the end.
enum class Place : uint8_t { kBegin, kCenter, kEnd };

struct ValueAxis {
  std::optional<double> low, high;  // limits of the axis; nullopt: the points determine the limit
  std::string label;
  std::string format;  // format of the tick labels, validated by ReadStyle; "" = short form
  bool logarithmic = false;
};

struct Legend {
  bool shown = true;
  bool outside = false;
  bool box = false;
  bool horizontal = false;
  Place across = Place::kEnd;   // horizontal position of the legend: left, center or right
  Place along = Place::kBegin;  // vertical position of the legend: top, center or bottom
};

struct Style {
  int width = 1024, height = 768;  // size of the image in pixels
  ValueAxis left, right;
  Legend legend;
  std::string title;
  /// Color of the background; nullopt: transparent.
  std::optional<Color> background = Color{255, 255, 255};
  Color foreground{0, 0, 0};
  LineForm form = LineForm::kLines;
  Smoothing smoothing = Smoothing::kNone;
};

struct Plot {
  int64_t begin_ms = 0, end_ms = 0;
  query::TimeZone zone;  // time zone for the labels of the time axis
  Style style;
  std::vector<Line> lines;
};

}  // namespace hg::http::graph
