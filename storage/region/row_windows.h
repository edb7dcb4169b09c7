#pragma once
// Windows of time that files of points are kept in (spec region-store.md C8, by the base time of
// row keys). Pure. A day, UTC, is the least; eight of a level make one of the next: 8 days, 64
// days. Windows of two levels are one within the other, or apart.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace hg::region {

/// Which rows a run may hold, by their base times; wider than need be where nobody knows.
struct RowSpan {
  uint32_t first_base = 0;  // above last_base: no row of a series
  uint32_t last_base = std::numeric_limits<uint32_t>::max();
  bool loose = true;  // rows that have no base time: of other tables, or with keys of no series

  static RowSpan None() { return {1, 0, false}; }
  [[nodiscard]] bool has_rows() const { return first_base <= last_base; }
  [[nodiscard]] bool Meets(const RowSpan& other) const {
    return (loose && other.loose) ||
           std::max(first_base, other.first_base) <= std::min(last_base, other.last_base);
  }
  void AddBase(uint32_t base) {
    first_base = has_rows() ? std::min(first_base, base) : base;
    last_base = std::max(last_base, base);
  }
  void Add(const RowSpan& other);

  bool operator==(const RowSpan&) const = default;
};

/// Levels that files are joined to: day, 8 days, 64 days.
inline constexpr int kWindowLevels = 3;

struct Window {
  int level = 0;       // 8^level days
  uint32_t index = 0;  // of such windows, from 1970 on

  static Window Of(uint32_t base, int level);
  /// The least one with all of the span's rows of series.
  static Window Around(const RowSpan& span);
  [[nodiscard]] int64_t StartMs() const;
  [[nodiscard]] int64_t EndMs() const;
  [[nodiscard]] bool Holds(const Window& other) const;

  auto operator<=>(const Window&) const = default;
};

/// The windows that a merge at that time writes rows into, one run for each: of what is over, or
/// far ahead, the largest; else days. `rows`: those of all inputs; of more than 22 years the
/// windows are larger, so that no merge has more than some 200 files at once.
class WindowChoice {
 public:
  WindowChoice(const RowSpan& rows, int64_t now_ms);
  [[nodiscard]] Window Of(uint32_t base) const;
  /// They are none but days, 8 days, 64 days.
  [[nodiscard]] bool fine() const { return level_max_ < kWindowLevels; }

 private:
  int64_t now_ms_;
  int level_max_;
};

}  // namespace hg::region
