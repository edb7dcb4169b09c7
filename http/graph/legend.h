#pragma once
// The legend of a plot: its layout and drawing. Used by draw.cc.

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

/// The color of the line with this index; colors repeat.
Color LineColor(size_t index);

class LegendBlock {
 public:
  /// Measures the titles. `room`: the picture without its margins.
  LegendBlock(const Style& style, const std::vector<Line>& lines, const Box& room, Canvas& canvas);

  /// Takes the space of an outside legend off `area`, the area of the lines. Call before Draw.
  void Reserve(Box* area);
  /// The width that the legend takes at the left of the picture.
  [[nodiscard]] double left_room() const;
  /// `area`: the area of the lines, which contains an inside legend.
  void Draw(const Box& area);

 private:
  [[nodiscard]] bool outside() const { return rows_ > 0 && style_.legend.outside; }
  /// True if the legend is left or right of the lines, not above or below.
  [[nodiscard]] bool beside() const {
    return !style_.legend.horizontal && style_.legend.across != Place::kCenter;
  }

  const Style& style_;
  const std::vector<Line>& lines_;
  Canvas& canvas_;
  Box around_;  // the area that contains an outside legend
  int rows_ = 0, columns_ = 1;
  double width_ = 0, height_ = 0, text_width_ = 0;
};

}  // namespace hg::http::graph
