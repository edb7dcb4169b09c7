#pragma once
// A bitmap on which plots are drawn. The canvas owns a Cairo surface and a Cairo context, and has
// only the few operations that plots need.

#include <cairo.h>

#include <string>
#include <string_view>

#include "http/graph/plot.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http::graph {

inline constexpr double kGap = 6;  // distance in pixels between related elements

/// The point of a text that is placed at the given position. `across` selects the left end, the
/// center or the right end of the text, and `along` selects its top, center or bottom.
struct Anchor {
  Place across = Place::kCenter;
  Place along = Place::kCenter;
};

/// A bitmap. Coordinates are in pixels from the top left corner. Only one thread at a time may use
/// a canvas.
class Canvas {
 public:
  /// Creates a bitmap whose pixels are all transparent.
  Canvas(int width, int height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  cairo_t* pen() { return pen_; }
  void Use(Color color, double opacity = 1);
  void Fill(double x, double y, double width, double height);
  /// Draws a line that is one pixel wide and is aligned to whole pixels.
  void Stroke(double x1, double y1, double x2, double y2);
  void Outline(double x, double y, double width, double height);
  /// Draws a text. Control characters are left out, and bytes that are not UTF-8 become question
  /// marks. A text that is wider than `width_max` pixels is shortened and gets "…" at its end.
  void Text(std::string_view text, double x, double y, Anchor anchor, double width_max);
  /// Draws a text that is rotated so that it runs upwards, with its center at the position (x, y).
  /// A text that is longer than `length_max` pixels is shortened.
  void TextUpwards(std::string_view text, double x, double y, double length_max);
  [[nodiscard]] double TextWidth(std::string_view text);
  [[nodiscard]] double LineHeight() const { return line_height_; }
  void SetTextSize(double pixels);

  /// Returns the bitmap as a PNG file. The context is checked before each piece of the file is
  /// stored. IoError: Cairo failed, for example because it had no memory for the bitmap. Also fails
  /// if the context reports an error.
  Result<std::string> ToPng(RequestContext& context);

 private:
  std::string Fitting(std::string_view text, double width_max);

  cairo_surface_t* surface_;
  cairo_t* pen_;
  double line_height_ = 0, ascent_ = 0, descent_ = 0;
};

}  // namespace hg::http::graph
