#include "http/graph/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "http/graph/axis.h"
#include "http/graph/canvas.h"
#include "http/graph/legend.h"
#include "http/graph/shape.h"

namespace hg::http::graph {
namespace {

constexpr double kTextPixels = 12;
constexpr double kTitlePixels = 15;
constexpr double kGap = 6;      // between things that belong together
constexpr double kMargin = 10;  // around the picture
constexpr double kMarkLength = 4;

/// Lowest and highest value of the lines of one axis within the plot's time; low > high if none.
std::pair<double, double> Extent(const Plot& plot, bool second_axis) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Line& line : plot.lines) {
    if (line.second_axis != second_axis) continue;
    for (const Point& p : line.points) {
      if (p.time_ms < plot.begin_ms || p.time_ms > plot.end_ms) continue;
      if ((second_axis ? plot.style.right : plot.style.left).logarithmic && p.value <= 0) continue;
      low = std::min(low, p.value);
      high = std::max(high, p.value);
    }
  }
  return {low, high};
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot), style_(plot.style), canvas_(style_.width, style_.height) {}

  Result<std::string> Run() {
    Prepare();
    if (style_.background) {
      canvas_.Use(*style_.background);
      canvas_.Fill(0, 0, style_.width, style_.height);
    }
    canvas_.SetTextSize(kTextPixels);
    Lay();
    DrawGrid();
    DrawLabels();
    cairo_t* pen = canvas_.pen();
    cairo_save(pen);
    // A little more than the frame, so that what lies on its edge is seen whole.
    cairo_rectangle(pen, area_.left - 2, area_.top - 2, area_.width() + 5, area_.height() + 5);
    cairo_clip(pen);
    for (size_t i = 0; i < lines_.size(); ++i) DrawLine(lines_[i], LineColor(i));
    cairo_restore(pen);
    if (empty_) {
      canvas_.Use(style_.foreground, 0.6);
      canvas_.Text("No data", area_.left + area_.width() / 2, area_.top + area_.height() / 2, {},
                   area_.width());
    }
    canvas_.Use(style_.foreground);
    canvas_.Outline(area_.left, area_.top, area_.width(), area_.height());
    legend_->Draw(area_);
    return canvas_.ToPng();
  }

 private:
  /// Lines as they are drawn.
  void Prepare() {
    lines_ = plot_.lines;
    for (Line& line : lines_) {
      if (style_.smoothing == Smoothing::kCumulative)
        line.points = Accumulated(std::move(line.points));
      line.points = Reduced(line.points, plot_.begin_ms, plot_.end_ms, style_.width);
      empty_ &= line.points.empty();
      second_axis_ |= line.second_axis;
    }
  }

  [[nodiscard]] ValueScale ScaleOf(bool second_axis, int marks) const {
    Plot shown;
    shown.begin_ms = plot_.begin_ms;
    shown.end_ms = plot_.end_ms;
    shown.style = style_;
    shown.lines = lines_;
    const auto [low, high] = Extent(shown, second_axis);
    return {second_axis ? style_.right : style_.left, low, high, marks};
  }

  [[nodiscard]] double WidestMark(const ValueScale& scale) {
    double width = 0;
    for (const Mark& mark : scale.marks()) width = std::max(width, canvas_.TextWidth(mark.text));
    return width;
  }

  /// Divides the picture: what stands around decides how much is left for the lines.
  void Lay() {
    const double line = canvas_.LineHeight();
    area_ = {kMargin, kMargin, style_.width - kMargin, style_.height - kMargin};
    if (!style_.title.empty()) area_.top += kTitlePixels + 2 * kGap;
    area_.bottom -= line + kGap;
    legend_.emplace(style_, lines_, area_, canvas_);
    legend_->Reserve(&area_);
    const int marks = std::clamp(static_cast<int>(area_.height() / (3 * line)), 2, 12);
    left_.emplace(ScaleOf(false, marks));
    area_.left += std::min(WidestMark(*left_), style_.width / 4.0) + kGap;
    if (!style_.left.label.empty()) area_.left += line + kGap;
    if (second_axis_) {
      right_.emplace(ScaleOf(true, marks));
      area_.right -= std::min(WidestMark(*right_), style_.width / 4.0) + kGap;
      if (!style_.right.label.empty()) area_.right -= line + kGap;
    }
    area_.right = std::max(std::floor(area_.right), area_.left + 20);
    area_.bottom = std::max(std::floor(area_.bottom), area_.top + 20);
    area_.left = std::floor(area_.left);
    area_.top = std::floor(area_.top);
    times_ = TimeMarks(plot_.begin_ms, plot_.end_ms, plot_.zone,
                       std::max(1, static_cast<int>(area_.width() / 80)));
  }

  [[nodiscard]] double X(int64_t time_ms) const {
    const auto span = static_cast<double>(std::max<int64_t>(plot_.end_ms - plot_.begin_ms, 1));
    return area_.left + static_cast<double>(time_ms - plot_.begin_ms) / span * area_.width();
  }
  [[nodiscard]] double Y(const ValueScale& scale, double value) const {
    // Far outside is as good as outside, and Cairo's numbers are not large.
    const double at = std::clamp(scale.At(value), -100.0, 100.0);
    return area_.bottom - at * area_.height();
  }

  void DrawGrid() {
    canvas_.Use(style_.foreground, 0.13);
    for (const Mark& mark : left_->marks()) {
      const double y = area_.bottom - mark.at * area_.height();
      canvas_.Stroke(area_.left, y, area_.right, y);
    }
    for (const Mark& mark : times_) {
      const double x = area_.left + mark.at * area_.width();
      canvas_.Stroke(x, area_.top, x, area_.bottom);
    }
  }

  void DrawLabels() {
    canvas_.Use(style_.foreground);
    const double middle = area_.top + area_.height() / 2;
    for (const Mark& mark : left_->marks()) {
      const double y = area_.bottom - mark.at * area_.height();
      canvas_.Stroke(area_.left, y, area_.left + kMarkLength, y);
      canvas_.Text(mark.text, area_.left - kGap, y, {Place::kEnd, Place::kCenter},
                   style_.width / 4.0);
    }
    if (right_) {
      for (const Mark& mark : right_->marks()) {
        const double y = area_.bottom - mark.at * area_.height();
        canvas_.Stroke(area_.right - kMarkLength, y, area_.right, y);
        canvas_.Text(mark.text, area_.right + kGap, y, {Place::kBegin, Place::kCenter},
                     style_.width / 4.0);
      }
    }
    double free_from = 0;
    for (const Mark& mark : times_) {
      const double x = area_.left + mark.at * area_.width();
      canvas_.Stroke(x, area_.bottom - kMarkLength, x, area_.bottom);
      const double half = canvas_.TextWidth(mark.text) / 2;
      if (x - half < free_from || x + half > style_.width) continue;
      canvas_.Text(mark.text, x, area_.bottom + kGap, {Place::kCenter, Place::kBegin},
                   area_.width());
      free_from = x + half + kGap;
    }
    const double line = canvas_.LineHeight();
    if (!style_.left.label.empty())
      canvas_.TextUpwards(style_.left.label, kMargin + line / 2 + legend_->left_room(), middle,
                          area_.height());
    if (right_ && !style_.right.label.empty())
      canvas_.TextUpwards(style_.right.label, area_.right + kGap + WidestMark(*right_) + line,
                          middle, area_.height());
    if (style_.title.empty()) return;
    canvas_.SetTextSize(kTitlePixels);
    canvas_.Text(style_.title, style_.width / 2.0, kMargin, {Place::kCenter, Place::kBegin},
                 style_.width - 2 * kMargin);
    canvas_.SetTextSize(kTextPixels);
  }

  void DrawLine(const Line& line, Color color) {
    if (line.points.empty()) return;
    const ValueScale& scale = line.second_axis ? *right_ : *left_;
    canvas_.Use(color);
    cairo_t* pen = canvas_.pen();
    cairo_set_line_width(pen, 1.5);
    cairo_set_line_join(pen, CAIRO_LINE_JOIN_ROUND);
    const LineForm form = style_.form;
    if (form == LineForm::kLines || form == LineForm::kLinesAndPoints) {
      // One point has no line: it is shown as a point.
      if (line.points.size() == 1 && form == LineForm::kLines) Dots(line, scale, 2, true);
      Path(line, scale);
      cairo_stroke(pen);
    } else if (form == LineForm::kSteps) {
      for (size_t i = 0; i < line.points.size(); ++i) {
        const double y = Y(scale, line.points[i].value);
        if (i > 0)
          cairo_line_to(pen, X(line.points[i].time_ms), Y(scale, line.points[i - 1].value));
        cairo_line_to(pen, X(line.points[i].time_ms), y);
      }
      cairo_stroke(pen);
    } else if (form == LineForm::kBars) {
      const double zero = std::clamp(Y(scale, 0), area_.top, area_.bottom);
      for (const Point& p : line.points) {
        cairo_move_to(pen, X(p.time_ms), zero);
        cairo_line_to(pen, X(p.time_ms), Y(scale, p.value));
      }
      cairo_stroke(pen);
    }
    if (form == LineForm::kLinesAndPoints || form == LineForm::kPoints)
      Dots(line, scale, 2.5, true);
    if (form == LineForm::kCircles) Dots(line, scale, 3.5, false);
    if (form == LineForm::kDots) Dots(line, scale, 1, true);
    cairo_set_line_width(pen, 1);
  }

  void Path(const Line& line, const ValueScale& scale) {
    cairo_t* pen = canvas_.pen();
    const std::vector<Point>& points = line.points;
    const bool curved = style_.smoothing == Smoothing::kCurve;
    const std::vector<double> slopes = curved ? MonotoneSlopes(points) : std::vector<double>();
    for (size_t i = 0; i < points.size(); ++i) {
      const double x = X(points[i].time_ms);
      const double y = Y(scale, points[i].value);
      if (!curved || i == 0) {
        cairo_line_to(pen, x, y);
        continue;
      }
      const Point& from = points[i - 1];
      const auto third = static_cast<double>(points[i].time_ms - from.time_ms) / 3;
      const double width = (x - X(from.time_ms)) / 3;
      cairo_curve_to(pen, x - 2 * width, Y(scale, from.value + slopes[i - 1] * third), x - width,
                     Y(scale, points[i].value - slopes[i] * third), x, y);
    }
  }

  void Dots(const Line& line, const ValueScale& scale, double radius, bool filled) {
    cairo_t* pen = canvas_.pen();
    for (const Point& p : line.points) {
      cairo_new_sub_path(pen);
      cairo_arc(pen, X(p.time_ms), Y(scale, p.value), radius, 0, 2 * M_PI);
    }
    filled ? cairo_fill(pen) : cairo_stroke(pen);
  }

  const Plot& plot_;
  const Style& style_;
  Canvas canvas_;
  std::vector<Line> lines_;
  bool empty_ = true;
  bool second_axis_ = false;
  Box area_;  // of the lines
  std::optional<LegendBlock> legend_;
  std::optional<ValueScale> left_, right_;
  std::vector<Mark> times_;
};

}  // namespace

Result<std::string> DrawPng(const Plot& plot) {
  if (plot.lines.size() > kLinesMax)
    return Status::InvalidArgument("The plot would have " + std::to_string(plot.lines.size()) +
                                   " lines; at most " + std::to_string(kLinesMax) +
                                   " can be drawn");
  return Drawing(plot).Run();
}

}  // namespace hg::http::graph
