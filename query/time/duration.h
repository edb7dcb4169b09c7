#pragma once
// Parses durations such as "5m" as the OpenTSDB class DateTime does (opentsdb-queries.md §3.3).

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// The unit of a duration. Calendars need the unit, because days and months have different lengths.
enum class TimeUnit : uint8_t { kMillis, kSecond, kMinute, kHour, kDay, kWeek, kMonth, kYear };

struct Duration {
  int64_t count = 0;  // number of units; positive, and so small that millis() does not overflow
  TimeUnit unit = TimeUnit::kSecond;

  /// Returns the length of the duration in milliseconds. A month counts as 30 days and a year as
  /// 365 days.
  [[nodiscard]] int64_t millis() const;
};

/// Parses digits that are followed by a unit (ms s m h d w n y) in upper or lower case. Only the
/// last character selects the unit, with one exception: an "m" before a final "s" selects "ms".
/// Other characters between the digits and the last character are ignored (quirk Q3 of
/// opentsdb-queries.md). The message of InvalidArgument contains `text`.
Result<Duration> ParseDuration(std::string_view text);

}  // namespace hg::query
