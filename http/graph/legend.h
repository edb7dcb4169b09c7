#pragma once
// Computes the layout of the legend of a plot, and draws the legend. draw.cc uses this file.

#include <cstddef>
#include <vector>

#include "http/graph/canvas.h"
#include "http/graph/plot.h"

namespace hg::http::graph {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
};

/// Returns the color of the line with this index. Lines with different indices may have the same
/// color.
Color LineColor(size_t index);

class LegendBlock {
 public:
  /// Measures the titles of the lines. `room` is the area of the picture without its margins.
  /// `style`, `lines` and `canvas` must outlive the object.
  LegendBlock(const Style& style, const std::vector<Line>& lines, const Box& room, Canvas& canvas);

  /// If the legend is outside the area of the lines, makes `area` smaller by the space for the
  /// legend. Call this function before Draw.
  void Reserve(Box* area);
  /// Returns the width in pixels that the legend needs to the left of the lines. Returns 0 if the
  /// legend is not there.
  [[nodiscard]] double left_room() const;
  /// Draws the legend. `area` is the area of the lines. If the legend is inside, it is placed in
  /// this area.
  void Draw(const Box& area);

 private:
  [[nodiscard]] bool outside() const { return rows_ > 0 && style_.legend.outside; }
  /// Returns whether the legend is to the left or to the right of the lines, not above or below
  /// them.
  [[nodiscard]] bool beside() const {
    return !style_.legend.horizontal && style_.legend.across != Place::kCenter;
  }

  const Style& style_;
  const std::vector<Line>& lines_;
  Canvas& canvas_;
  Box around_;  // the area around the lines, in which an outside legend is placed
  int rows_ = 0, columns_ = 1;
  double width_ = 0, height_ = 0, text_width_ = 0;
};

}  // namespace hg::http::graph
