#pragma once
// A bitmap on which plots are drawn. It owns a Cairo surface and context, and has only the few
// operations that plots need.

#include <cairo.h>

#include <string>
#include <string_view>

#include "http/graph/plot.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http::graph {

inline constexpr double kGap = 6;  // pixels between related elements

/// How a text is aligned to its position, horizontally and vertically.
struct Anchor {
  Place across = Place::kCenter;
  Place along = Place::kCenter;
};

/// Coordinates are pixels from the top left corner. Use on one thread at a time.
class Canvas {
 public:
  /// Creates a transparent bitmap.
  Canvas(int width, int height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  cairo_t* pen() { return pen_; }
  void Use(Color color, double opacity = 1);
  void Fill(double x, double y, double width, double height);
  /// Draws a line one pixel wide, aligned to whole pixels.
  void Stroke(double x1, double y1, double x2, double y2);
  void Outline(double x, double y, double width, double height);
  /// Draws text. Control characters are left out, bytes that are not UTF-8 become question marks,
  /// and text that is wider than `width_max` is cut.
  void Text(std::string_view text, double x, double y, Anchor anchor, double width_max);
  /// Draws text that runs upwards, centered at the position.
  void TextUpwards(std::string_view text, double x, double y, double length_max);
  [[nodiscard]] double TextWidth(std::string_view text);
  [[nodiscard]] double LineHeight() const { return line_height_; }
  void SetTextSize(double pixels);

  /// Returns the bitmap as a PNG file. IoError: no memory for the file. The context is checked
  /// after each piece of the file, and its error is returned.
  Result<std::string> ToPng(RequestContext& context);

 private:
  std::string Fitting(std::string_view text, double width_max);

  cairo_surface_t* surface_;
  cairo_t* pen_;
  double line_height_ = 0, ascent_ = 0, descent_ = 0;
};

}  // namespace hg::http::graph
