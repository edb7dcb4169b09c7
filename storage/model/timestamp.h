#pragma once
// The time of a point. OpenTSDB interprets numbers below 2^32 as seconds and greater numbers as
// milliseconds (opentsdb-schema.md §5).

#include <cstdint>

#include "storage/model/key_layout.h"

namespace hg {

/// Largest accepted time: a number of milliseconds.
inline constexpr int64_t kTimestampMax = 9999999999999;
/// The length of a day in seconds and in milliseconds.
inline constexpr uint32_t kDayS = 86'400;
inline constexpr int64_t kDayMs = int64_t{kDayS} * 1000;

/// The time of a point. `raw` is the number that the client sent. Timestamp is an immutable value.
struct Timestamp {
  int64_t raw = 0;

  /// Returns whether the time is in milliseconds, which is the case if any of the upper 32 bits is
  /// set.
  [[nodiscard]] bool is_millis() const { return (static_cast<uint64_t>(raw) >> 32) != 0; }
  [[nodiscard]] int64_t millis() const { return is_millis() ? raw : raw * 1000; }
  [[nodiscard]] int64_t seconds() const { return is_millis() ? raw / 1000 : raw; }
  /// Returns the base time of the row in seconds. A time in milliseconds beyond 2^32 s wraps around
  /// to 32 bits, as it does in stored rows.
  [[nodiscard]] uint32_t base() const {
    int64_t s = seconds();
    return static_cast<uint32_t>(s - s % kRowSpan);
  }
  /// Returns whether the write paths accept the time: 0 ≤ raw ≤ kTimestampMax.
  [[nodiscard]] bool in_range() const { return raw >= 0 && raw <= kTimestampMax; }
};

/// A half-open range of base times of rows, in seconds. The end 2^32 means that the range has no
/// end.
struct RowRange {
  uint32_t begin = 0;
  uint64_t end = uint64_t{1} << 32;
};

}  // namespace hg
