#include "http/graph/legend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "http/graph/canvas.h"

namespace hg::http::graph {
namespace {

constexpr double kSwatch = 22;  // a sample of the line's color
constexpr int kRowsMax = 40;    // further lines are only counted

/// People with color blindness can distinguish these colors, and they differ in print.
constexpr std::array<Color, 10> kColors = {{{0x1F, 0x77, 0xB4},
                                            {0xFF, 0x7F, 0x0E},
                                            {0x2C, 0xA0, 0x2C},
                                            {0xD6, 0x27, 0x28},
                                            {0x94, 0x67, 0xBD},
                                            {0x8C, 0x56, 0x4B},
                                            {0xE3, 0x77, 0xC2},
                                            {0x7F, 0x7F, 0x7F},
                                            {0xBC, 0xBD, 0x22},
                                            {0x17, 0xBE, 0xCF}}};

}  // namespace

Color LineColor(size_t index) { return kColors[index % kColors.size()]; }

LegendBlock::LegendBlock(const Style& style, const std::vector<Line>& lines, const Box& room,
                         Canvas& canvas)
    : style_(style), lines_(lines), canvas_(canvas) {
  if (!style_.legend.shown || lines_.empty()) return;
  double widest = 0;
  // Only the first titles are measured, because the legend cannot show more.
  for (size_t i = 0; i < std::min<size_t>(lines_.size(), 1000); ++i)
    widest = std::max(widest, canvas_.TextWidth(lines_[i].title));
  text_width_ = std::min(widest, style_.width / (beside() ? 3.0 : 1.5));
  const double cell = kSwatch + 3 * kGap + text_width_;
  const auto count = static_cast<int>(std::min<size_t>(lines_.size(), 100'000));
  if (style_.legend.horizontal)
    columns_ = std::clamp(static_cast<int>(room.width() / cell), 1, count);
  const double share = style_.legend.outside && !beside() ? 0.3 : 0.8;
  const int fitting = static_cast<int>(room.height() * share / canvas_.LineHeight());
  rows_ = std::min({(count + columns_ - 1) / columns_, kRowsMax, fitting});
  width_ = cell * columns_;
  height_ = rows_ * canvas_.LineHeight() + 2 * kGap;
}

void LegendBlock::Reserve(Box* area) {
  if (!outside()) return;
  around_ = *area;
  if (beside()) {
    (style_.legend.across == Place::kBegin ? area->left : area->right) +=
        (style_.legend.across == Place::kBegin ? 1 : -1) * (width_ + kGap);
  } else if (style_.legend.along == Place::kBegin) {
    area->top += height_ + kGap;
  } else {
    area->bottom -= height_ + kGap;
    around_.bottom += canvas_.LineHeight();  // below the time labels
  }
}

double LegendBlock::left_room() const {
  const bool left = outside() && beside() && style_.legend.across == Place::kBegin;
  return left ? width_ + kGap : 0;
}

void LegendBlock::Draw(const Box& area) {
  if (rows_ <= 0) return;
  const Box& around = outside() ? around_ : area;
  const double inset = outside() ? 0 : kGap;
  const auto placed = [&](Place place, double low, double high, double size) {
    if (place == Place::kBegin) return low + inset;
    return place == Place::kCenter ? (low + high - size) / 2 : high - size - inset;
  };
  const double left = std::floor(placed(style_.legend.across, around.left, around.right, width_));
  const double top = std::floor(placed(style_.legend.along, around.top, around.bottom, height_));
  if (style_.background && !outside()) {
    canvas_.Use(*style_.background, 0.8);
    canvas_.Fill(left, top, width_, height_);
  }
  if (style_.legend.box) {
    canvas_.Use(style_.foreground, 0.5);
    canvas_.Outline(left, top, width_, height_);
  }
  const double cell = width_ / columns_;
  const auto columns = static_cast<size_t>(columns_);
  const size_t room = static_cast<size_t>(rows_) * columns;
  for (size_t i = 0; i < std::min(room, lines_.size()); ++i) {
    const double x = left + static_cast<double>(i % columns) * cell + kGap;
    const double y = top + kGap + (static_cast<double>(i / columns) + 0.5) * canvas_.LineHeight();
    canvas_.Use(style_.foreground);
    if (i + 1 == room && lines_.size() > room) {
      canvas_.Text("and " + std::to_string(lines_.size() - i) + " more", x, y,
                   {Place::kBegin, Place::kCenter}, cell);
      return;
    }
    canvas_.Text(lines_[i].title, x + kSwatch + kGap, y, {Place::kBegin, Place::kCenter},
                 text_width_ + 1);
    canvas_.Use(LineColor(i));
    canvas_.Fill(x, std::floor(y) - 1, kSwatch, 3);
  }
}

}  // namespace hg::http::graph
