#pragma once
// The contents and style of a plot, independent of the source of the data and of drawing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/time/time_zone.h"

namespace hg::http::graph {

struct Point {
  int64_t time_ms = 0;
  double value = 0;  // finite
};

struct Line {
  std::string title;          // UTF-8, any characters
  std::vector<Point> points;  // ascending
  bool second_axis = false;   // whether the line uses the right axis
};

/// Components are 0…255.
struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
};

enum class LineForm : uint8_t { kLines, kLinesAndPoints, kPoints, kCircles, kDots, kSteps, kBars };
enum class Smoothing : uint8_t { kNone, kCurve, kCumulative };
/// A position in one direction: at its begin, in its center, or at its end.
enum class Place : uint8_t { kBegin, kCenter, kEnd };

struct ValueAxis {
  std::optional<double> low, high;  // nullopt: determined by the points
  std::string label;
  std::string format;  // printf format of one double, validated; empty = plain numbers
  bool logarithmic = false;
};

struct Legend {
  bool shown = true;
  bool outside = false;
  bool box = false;
  bool horizontal = false;
  Place across = Place::kEnd;   // left, center, right
  Place along = Place::kBegin;  // top, center, bottom
};

struct Style {
  int width = 1024, height = 768;  // pixels
  ValueAxis left, right;
  Legend legend;
  std::string title;
  std::optional<Color> background = Color{255, 255, 255};  // nullopt: transparent
  Color foreground{0, 0, 0};
  LineForm form = LineForm::kLines;
  Smoothing smoothing = Smoothing::kNone;
};

struct Plot {
  int64_t begin_ms = 0, end_ms = 0;
  query::TimeZone zone;  // time zone of the time labels
  Style style;
  std::vector<Line> lines;
};

}  // namespace hg::http::graph
