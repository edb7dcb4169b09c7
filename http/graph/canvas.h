#pragma once
// A picture to draw on: Cairo's surface and context, owned, with the few strokes that plots need.

#include <cairo.h>

#include <string>
#include <string_view>

#include "http/graph/plot.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// How text stands to the place it is given, in either direction.
struct Anchor {
  Place across = Place::kCenter;
  Place along = Place::kCenter;
};

/// Coordinates are pixels from the top left corner. One thread at a time.
class Canvas {
 public:
  /// Transparent at first.
  Canvas(int width, int height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  cairo_t* pen() { return pen_; }
  void Use(Color color, double opacity = 1);
  void Fill(double x, double y, double width, double height);
  /// One pixel wide, on whole pixels.
  void Stroke(double x1, double y1, double x2, double y2);
  void Outline(double x, double y, double width, double height);
  /// Control characters are left out, and what is no UTF-8 shown as question marks; what is wider
  /// than `width_max` is cut.
  void Text(std::string_view text, double x, double y, Anchor anchor, double width_max);
  /// Read from below, its middle at the place.
  void TextUpwards(std::string_view text, double x, double y, double length_max);
  [[nodiscard]] double TextWidth(std::string_view text);
  [[nodiscard]] double LineHeight() const { return line_height_; }
  void SetTextSize(double pixels);

  /// IoError: there was no memory for it.
  Result<std::string> ToPng();

 private:
  std::string Fitting(std::string_view text, double width_max);

  cairo_surface_t* surface_;
  cairo_t* pen_;
  double line_height_ = 0, ascent_ = 0, descent_ = 0;
};

}  // namespace hg::http::graph
