#include "http/graph/canvas.h"

#include <algorithm>
#include <cmath>

#include "storage/base/survive.h"
#include "storage/model/utf8.h"

namespace hg::http::graph {
namespace {

/// Replaces invalid UTF-8 and noncharacters, because Cairo reports a permanent error for them.
std::string Drawable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    bool good = true;
    const char32_t c = TakeCodePoint(&text, &good);
    good = good && (c < 0xFDD0 || c > 0xFDEF) && (c & 0xFFFE) != 0xFFFE;
    if (!good) {
      out.push_back('?');
    } else if (c >= 0x20 && c != 0x7F) {
      AppendCodePoint(&out, c);
    }
  }
  return out;
}

double Shift(Place place, double size) {
  return place == Place::kBegin ? 0 : place == Place::kCenter ? size / 2 : size;
}

struct File {
  RequestContext& context;
  std::string bytes;
  Status status;
};

cairo_status_t AppendBytes(void* to, const unsigned char* bytes, unsigned int count) {
  File& file = *static_cast<File*>(to);
  // Cairo is written in C, so no exception may leave this function.
  file.status = Survive([&]() -> Status {
    RETURN_IF_ERROR(file.context.Check());
    file.bytes.append(reinterpret_cast<const char*>(bytes), count);
    return {};
  });
  return file.status.ok() ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

}  // namespace

Canvas::Canvas(int width, int height)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)),
      pen_(cairo_create(surface_)) {
  cairo_select_font_face(pen_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_line_width(pen_, 1);
}

Canvas::~Canvas() {
  cairo_destroy(pen_);
  cairo_surface_destroy(surface_);
}

void Canvas::Use(Color color, double opacity) {
  cairo_set_source_rgba(pen_, color.red / 255.0, color.green / 255.0, color.blue / 255.0, opacity);
}

void Canvas::Fill(double x, double y, double width, double height) {
  cairo_rectangle(pen_, x, y, width, height);
  cairo_fill(pen_);
}

void Canvas::Stroke(double x1, double y1, double x2, double y2) {
  cairo_move_to(pen_, std::floor(x1) + 0.5, std::floor(y1) + 0.5);
  cairo_line_to(pen_, std::floor(x2) + 0.5, std::floor(y2) + 0.5);
  cairo_stroke(pen_);
}

void Canvas::Outline(double x, double y, double width, double height) {
  cairo_rectangle(pen_, std::floor(x) + 0.5, std::floor(y) + 0.5, std::floor(width),
                  std::floor(height));
  cairo_stroke(pen_);
}

void Canvas::SetTextSize(double pixels) {
  cairo_set_font_size(pen_, pixels);
  cairo_font_extents_t extents;
  cairo_font_extents(pen_, &extents);
  ascent_ = extents.ascent;
  descent_ = extents.descent;
  // The font height is 0 if the canvas is in error.
  line_height_ = std::max(1.0, std::ceil(extents.height));
}

double Canvas::TextWidth(std::string_view text) {
  cairo_text_extents_t extents;
  cairo_text_extents(pen_, Drawable(text).c_str(), &extents);
  return extents.x_advance;
}

std::string Canvas::Fitting(std::string_view text, double width_max) {
  std::string out = Drawable(text);
  if (TextWidth(out) <= width_max) return out;
  // A binary search is used, because a title may be long and each step measures text.
  size_t fits = 0, too_long = out.size();
  while (too_long - fits > 1) {
    const size_t middle = fits + (too_long - fits) / 2;
    size_t cut = middle;
    while (cut > fits && (static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80) --cut;
    if (cut > fits && TextWidth(out.substr(0, cut) + "…") <= width_max) {
      fits = cut;
    } else {
      too_long = middle;
    }
  }
  out.resize(fits);
  return fits == 0 ? std::string() : out + "…";
}

void Canvas::Text(std::string_view text, double x, double y, Anchor anchor, double width_max) {
  const std::string shown = Fitting(text, width_max);
  const double left = x - Shift(anchor.across, TextWidth(shown));
  const double top = y - Shift(anchor.along, ascent_ + descent_);
  cairo_move_to(pen_, std::round(left), std::round(top + ascent_));
  cairo_show_text(pen_, shown.c_str());
  cairo_new_path(pen_);
}

void Canvas::TextUpwards(std::string_view text, double x, double y, double length_max) {
  cairo_save(pen_);
  cairo_translate(pen_, x, y);
  cairo_rotate(pen_, -M_PI / 2);
  Text(text, 0, 0, {}, length_max);
  cairo_restore(pen_);
}

Result<std::string> Canvas::ToPng(RequestContext& context) {
  File file{context, {}, {}};
  cairo_status_t status = cairo_status(pen_);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(surface_, AppendBytes, &file);
  RETURN_IF_ERROR(file.status);
  if (status != CAIRO_STATUS_SUCCESS)
    return Status::IoError(std::string("the plot cannot be drawn: ") +
                           cairo_status_to_string(status));
  return std::move(file.bytes);
}

}  // namespace hg::http::graph
