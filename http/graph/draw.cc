#include "http/graph/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "http/graph/axis.h"
#include "http/graph/canvas.h"
#include "http/graph/legend.h"
#include "http/graph/shape.h"
#include "storage/base/status.h"

namespace hg::http::graph {
namespace {

constexpr double kTextPixels = 12;
constexpr double kTitlePixels = 15;
constexpr double kMargin = 10;  // around the picture
constexpr double kMarkLength = 4;

// Maximum points, and maximum pixels that a path crosses, of one drawing call. The duration of a
// call depends on both. It is at most some milliseconds.
constexpr size_t kPointsAtOnce = 512;
constexpr double kPixelsAtOnce = 1 << 15;
// The cost of drawing a point, relative to the cost of reading a point.
constexpr uint64_t kDrawnSteps = 64;
// Maximum memory of a pixel in the bitmap and in the file together.
constexpr int64_t kPixelBytes = 8;
// Maximum bytes of a line's title. Longer titles do not fit a picture and take long to measure.
constexpr size_t kTitleBytesMax = 512;
constexpr uint64_t kPixelsPerStep = 16;

/// Returns the lowest and highest value of one axis within the plot's time. If there are no values,
/// low > high.
std::pair<double, double> Extent(const Plot& plot, const std::vector<Line>& lines,
                                 bool second_axis) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Line& line : lines) {
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
  Drawing(const Plot& plot, RequestContext& context)
      : plot_(plot),
        style_(plot.style),
        context_(context),
        memory_(&context),
        canvas_(style_.width, style_.height) {}

  Result<std::string> Run() {
    RETURN_IF_ERROR(Prepare());
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
    // The clipping area is a little larger than the frame, so that lines on its edge are fully
    // visible.
    cairo_rectangle(pen, area_.left - 2, area_.top - 2, area_.width() + 5, area_.height() + 5);
    cairo_clip(pen);
    for (size_t i = 0; i < lines_.size(); ++i) RETURN_IF_ERROR(DrawLine(lines_[i], LineColor(i)));
    cairo_restore(pen);
    if (empty_) {
      canvas_.Use(style_.foreground, 0.6);
      canvas_.Text("No data", area_.left + area_.width() / 2, area_.top + area_.height() / 2, {},
                   area_.width());
    }
    canvas_.Use(style_.foreground);
    canvas_.Outline(area_.left, area_.top, area_.width(), area_.height());
    legend_->Draw(area_);
    return canvas_.ToPng(context_);
  }

 private:
  /// Copies the lines and reduces their points to as many as the width of the picture can show.
  Status Prepare() {
    lines_.reserve(plot_.lines.size());
    for (const Line& given : plot_.lines) {
      RETURN_IF_ERROR(context_.Step(1 + given.points.size()));
      // Two temporary copies exist during the reduction.
      MemoryTally copies(&context_);
      RETURN_IF_ERROR(copies.Add(static_cast<int64_t>(2 * given.points.size() * sizeof(Point))));
      Line& line = lines_.emplace_back();
      line.title = Shortened(given.title, kTitleBytesMax);
      line.second_axis = given.second_axis;
      line.points =
          style_.smoothing == Smoothing::kCumulative
              ? Reduced(Accumulated(given.points), plot_.begin_ms, plot_.end_ms, style_.width)
              : Reduced(given.points, plot_.begin_ms, plot_.end_ms, style_.width);
      RETURN_IF_ERROR(memory_.Add(
          static_cast<int64_t>(line.title.size() + 2 * line.points.size() * sizeof(Point))));
      empty_ &= line.points.empty();
      second_axis_ |= line.second_axis;
    }
    return {};
  }

  [[nodiscard]] ValueScale ScaleOf(bool second_axis, int marks) const {
    const auto [low, high] = Extent(plot_, lines_, second_axis);
    return {second_axis ? style_.right : style_.left, low, high, marks};
  }

  [[nodiscard]] double WidestMark(const ValueScale& scale) {
    double width = 0;
    for (const Mark& mark : scale.marks()) width = std::max(width, canvas_.TextWidth(mark.text));
    return width;
  }

  /// Computes the layout. The area of the lines is the space that the other elements leave.
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
    // Cairo's coordinates have a small range, and values this far outside are not visible.
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

  Status DrawLine(const Line& line, Color color) {
    const std::vector<double> slopes =
        style_.smoothing == Smoothing::kCurve ? MonotoneSlopes(line.points) : std::vector<double>();
    for (size_t begin = 0; begin < line.points.size();) {
      size_t end = begin;
      for (double pixels = 0;
           end < line.points.size() && end - begin < kPointsAtOnce && pixels < kPixelsAtOnce; ++end)
        pixels += PathPixels(line, end);
      RETURN_IF_ERROR(context_.Step(kDrawnSteps * (end - begin)));
      RETURN_IF_ERROR(context_.Check());
      DrawPart(line, slopes, begin, end, color);
      begin = end;
    }
    return {};
  }

  [[nodiscard]] const ValueScale& ScaleOf(const Line& line) const {
    return line.second_axis ? *right_ : *left_;
  }

  /// Returns about how many pixels the path to a point crosses.
  [[nodiscard]] double PathPixels(const Line& line, size_t i) const {
    const ValueScale& scale = ScaleOf(line);
    const auto visible = [&](double value) {
      return std::clamp(Y(scale, value), area_.top, area_.bottom);
    };
    const Point& to = line.points[i];
    if (style_.form == LineForm::kBars) return std::abs(visible(to.value) - visible(0));
    if (i == 0) return 0;
    const Point& from = line.points[i - 1];
    return X(to.time_ms) - X(from.time_ms) + std::abs(visible(to.value) - visible(from.value));
  }

  /// Draws the points from `begin` to `end`. A path begins two points earlier, so that lines are
  /// joined at the border of two parts in the same way as within a part.
  void DrawPart(const Line& line, const std::vector<double>& slopes, size_t begin, size_t end,
                Color color) {
    const std::span<const Point> all = line.points, points = all.subspan(begin, end - begin);
    const size_t path_begin = begin - std::min<size_t>(begin, 2);
    const ValueScale& scale = ScaleOf(line);
    canvas_.Use(color);
    cairo_t* pen = canvas_.pen();
    cairo_set_line_width(pen, 1.5);
    cairo_set_line_join(pen, CAIRO_LINE_JOIN_ROUND);
    const LineForm form = style_.form;
    if (form == LineForm::kLines || form == LineForm::kLinesAndPoints) {
      // A line of one point would be invisible, so the point is drawn as a dot.
      if (all.size() == 1 && form == LineForm::kLines) Dots(points, scale, 2, true);
      Path(all, slopes, path_begin, end, scale);
      cairo_stroke(pen);
    } else if (form == LineForm::kSteps) {
      for (size_t i = path_begin; i < end; ++i) {
        const double y = Y(scale, all[i].value);
        if (i > path_begin) cairo_line_to(pen, X(all[i].time_ms), Y(scale, all[i - 1].value));
        cairo_line_to(pen, X(all[i].time_ms), y);
      }
      cairo_stroke(pen);
    } else if (form == LineForm::kBars) {
      const double zero = std::clamp(Y(scale, 0), area_.top, area_.bottom);
      for (const Point& p : points) {
        cairo_move_to(pen, X(p.time_ms), zero);
        cairo_line_to(pen, X(p.time_ms), Y(scale, p.value));
      }
      cairo_stroke(pen);
    }
    if (form == LineForm::kLinesAndPoints || form == LineForm::kPoints)
      Dots(points, scale, 2.5, true);
    if (form == LineForm::kCircles) Dots(points, scale, 3.5, false);
    if (form == LineForm::kDots) Dots(points, scale, 1, true);
    cairo_set_line_width(pen, 1);
  }

  /// Adds the points from `begin` to `end` to the path. `slopes`: the slopes at all points if the
  /// line is a curve, otherwise empty.
  void Path(std::span<const Point> points, const std::vector<double>& slopes, size_t begin,
            size_t end, const ValueScale& scale) {
    cairo_t* pen = canvas_.pen();
    for (size_t i = begin; i < end; ++i) {
      const double x = X(points[i].time_ms);
      const double y = Y(scale, points[i].value);
      if (slopes.empty() || i == begin) {
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

  void Dots(std::span<const Point> points, const ValueScale& scale, double radius, bool filled) {
    cairo_t* pen = canvas_.pen();
    for (const Point& p : points) {
      cairo_new_sub_path(pen);
      cairo_arc(pen, X(p.time_ms), Y(scale, p.value), radius, 0, 2 * M_PI);
    }
    filled ? cairo_fill(pen) : cairo_stroke(pen);
  }

  const Plot& plot_;
  const Style& style_;
  RequestContext& context_;
  MemoryTally memory_;  // memory of lines_
  Canvas canvas_;
  std::vector<Line> lines_;
  bool empty_ = true;
  bool second_axis_ = false;
  Box area_;  // area of the lines
  std::optional<LegendBlock> legend_;
  std::optional<ValueScale> left_, right_;
  std::vector<Mark> times_;
};

}  // namespace

Result<std::string> DrawPng(const Plot& plot, RequestContext& context) {
  if (plot.lines.size() > kLinesMax)
    return Status::InvalidArgument("The plot would have " + std::to_string(plot.lines.size()) +
                                   " lines; at most " + std::to_string(kLinesMax) +
                                   " can be drawn");
  const int64_t pixels = int64_t{plot.style.width} * plot.style.height;
  RETURN_IF_ERROR(context.Step(static_cast<uint64_t>(pixels) / kPixelsPerStep));
  RETURN_IF_ERROR(context.Charge(pixels * kPixelBytes));
  return Drawing(plot, context).Run();
}

}  // namespace hg::http::graph
