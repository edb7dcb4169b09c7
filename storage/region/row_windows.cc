#include "storage/region/row_windows.h"

#include "storage/model/timestamp.h"

namespace hg::region {
namespace {

constexpr int kJoinBits = 3;  // eight windows of a level form one window of the next level
constexpr uint32_t kLargestMax =
    128;  // maximum number of windows of the largest level in one merge

}  // namespace

void RowSpan::Add(const RowSpan& other) {
  loose = loose || other.loose;
  if (!other.has_rows()) return;
  AddBase(other.first_base);
  AddBase(other.last_base);
}

Window Window::Of(uint32_t base, int level) {
  return {level, static_cast<uint32_t>(base / kDayS) >> (kJoinBits * level)};
}

Window Window::Around(const RowSpan& span) {
  Window window = Of(span.first_base, 0);
  while (window != Of(span.last_base, window.level)) window = Of(span.first_base, window.level + 1);
  return window;
}

int64_t Window::StartMs() const { return (int64_t{index} << (kJoinBits * level)) * kDayMs; }

int64_t Window::EndMs() const { return (int64_t{index} + 1) * kDayMs << (kJoinBits * level); }

bool Window::Holds(const Window& other) const {
  return level >= other.level && other.index >> (kJoinBits * (level - other.level)) == index;
}

WindowChoice::WindowChoice(const RowSpan& rows, int64_t now_ms)
    : now_ms_(now_ms), level_max_(kWindowLevels - 1) {
  if (!rows.has_rows()) return;
  const auto count = [&] {
    return Window::Of(rows.last_base, level_max_).index -
           Window::Of(rows.first_base, level_max_).index + 1;
  };
  while (count() > kLargestMax) ++level_max_;
}

Window WindowChoice::Of(uint32_t base) const {
  for (int level = level_max_; level > 0; --level) {
    const Window window = Window::Of(base, level);
    if (window.EndMs() <= now_ms_ || window.StartMs() > now_ms_ + kDayMs) return window;
  }
  return Window::Of(base, 0);
}

}  // namespace hg::region
