#pragma once
// Durations such as "5m" (opentsdb-queries.md §3.3), as in the OpenTSDB class DateTime.

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// The unit of a duration. Calendars need it, because days and months differ in length.
enum class TimeUnit : uint8_t { kMillis, kSecond, kMinute, kHour, kDay, kWeek, kMonth, kYear };

struct Duration {
  int64_t count = 0;  // positive, and small enough that millis() does not overflow
  TimeUnit unit = TimeUnit::kSecond;

  /// Returns the length in milliseconds. A month counts as 30 days and a year as 365 days.
  [[nodiscard]] int64_t millis() const;
};

/// Parses digits followed by a unit (ms s m h d w n y) in upper or lower case. Only the last
/// character selects the unit; an "m" before it turns "s" into "ms". Other characters in between
/// are ignored (quirk Q3 of opentsdb-queries.md). The message of InvalidArgument contains the text.
Result<Duration> ParseDuration(std::string_view text);

}  // namespace hg::query
