#pragma once
// Durations such as "5m" (spec query.md §3.3): OpenTSDB class DateTime.

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// The unit of a duration, as far as a calendar needs it.
enum class TimeUnit : uint8_t { kMillis, kSecond, kMinute, kHour, kDay, kWeek, kMonth, kYear };

struct Duration {
  int64_t count = 0;  // > 0, and so that millis() does not overflow
  TimeUnit unit = TimeUnit::kSecond;

  /// Milliseconds, a month being 30 and a year 365 days.
  [[nodiscard]] int64_t millis() const;
};

/// Leading digits, then a unit: ms s m h d w n y, either case. Only the last character selects the
/// unit ("ms" by a preceding m), what stands between is ignored (quirk Q3). InvalidArgument names
/// the text.
Result<Duration> ParseDuration(std::string_view text);

}  // namespace hg::query
