#pragma once
// The key of a plot: how much room it takes, and its drawing. Used by draw.cc.

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

/// The color of a line by its place; they repeat.
Color LineColor(size_t index);

class LegendBlock {
 public:
  /// Measures the titles. `room`: of the picture without its margins.
  LegendBlock(const Style& style, const std::vector<Line>& lines, const Box& room, Canvas& canvas);

  /// Takes an outside key's room off the area of the lines. Before Draw.
  void Reserve(Box* area);
  /// What it takes on the left of the picture.
  [[nodiscard]] double left_room() const;
  /// `area`: of the lines, where an inside key stands.
  void Draw(const Box& area);

 private:
  [[nodiscard]] bool outside() const { return rows_ > 0 && style_.legend.outside; }
  /// Left or right of the lines, not above or below.
  [[nodiscard]] bool beside() const {
    return !style_.legend.horizontal && style_.legend.across != Place::kCenter;
  }

  const Style& style_;
  const std::vector<Line>& lines_;
  Canvas& canvas_;
  Box around_;  // of an outside key
  int rows_ = 0, columns_ = 1;
  double width_ = 0, height_ = 0, text_width_ = 0;
};

}  // namespace hg::http::graph
