#pragma once
// Widths that define the layout of every row key (opentsdb-schema.md §4, §19.2: the settings that
// affect stored bytes). The widths never change as long as a data directory exists.

#include <cstdint>

namespace hg {

/// Time range of one row of the data table, in seconds.
inline constexpr uint32_t kRowSpan = 3600;

/// The layout of row keys. KeyLayout is an immutable value.
struct KeyLayout {
  int metric_width = 3;   // bytes, 1…8
  int tagk_width = 3;     // bytes, 1…8
  int tagv_width = 3;     // bytes, 1…8
  int salt_width = 0;     // bytes, 0…8; 0 = no salt
  int salt_buckets = 20;  // ≥ 1; meaningful only if salt_width > 0

  /// Returns the number of bytes of one tag pair.
  [[nodiscard]] int pair_width() const { return tagk_width + tagv_width; }
  /// Returns the number of bytes before the first tag pair of a row key: salt, metric and base
  /// time.
  [[nodiscard]] int prefix_width() const { return salt_width + metric_width + 4; }

  bool operator==(const KeyLayout&) const = default;
};

}  // namespace hg
