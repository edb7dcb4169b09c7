#pragma once
// Time windows for files of points (region-store.md C8), by the base times of row keys. The
// smallest window is a day in UTC. Eight windows of one level form one window of the next level: 8
// days, 64 days. Windows of two levels are nested or disjoint. All functions are pure.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace hg::region {

/// The range of base times of the rows that a part may have. If the exact range is not known, the
/// stored range is wider than necessary.
struct RowSpan {
  uint32_t first_base = 0;  // first_base > last_base means that the part has no rows of series
  uint32_t last_base = std::numeric_limits<uint32_t>::max();
  // Whether the part may have rows without a base time: rows of other tables, or rows whose keys
  // belong to no series.
  bool loose = true;

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

/// The number of levels of windows to which files are merged: a day, 8 days and 64 days.
inline constexpr int kWindowLevels = 3;

struct Window {
  int level = 0;       // a window is 8^level days long
  uint32_t index = 0;  // number of the window since 1970

  static Window Of(uint32_t base, int level);
  /// Returns the smallest window that contains all rows of series in the span.
  static Window Around(const RowSpan& span);
  [[nodiscard]] int64_t StartMs() const;
  [[nodiscard]] int64_t EndMs() const;
  [[nodiscard]] bool Holds(const Window& other) const;

  auto operator<=>(const Window&) const = default;
};

/// Selects the windows for the output of a merge, one part per window. A row belongs to the largest
/// window that is over or begins more than a day ahead. If there is no such window, the row belongs
/// to the window of its day. `rows` is the span of all inputs of the merge. If the span is longer
/// than 22 years, larger windows are used, so that no merge writes more than about 200 files at
/// once.
class WindowChoice {
 public:
  WindowChoice(const RowSpan& rows, int64_t now_ms);
  [[nodiscard]] Window Of(uint32_t base) const;
  /// Returns whether the rows are divided only into windows of 1, 8 and 64 days. If false, larger
  /// windows are used, too.
  [[nodiscard]] bool fine() const { return level_max_ < kWindowLevels; }

 private:
  int64_t now_ms_;
  int level_max_;
};

}  // namespace hg::region
