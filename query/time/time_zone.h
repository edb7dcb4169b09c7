#pragma once
// Time zones with the rules of Java, because OpenTSDB uses Java's time zones. Java has its own
// rules for ids of time zones, for offsets, and for local times that do not exist or exist twice
// (java.util.GregorianCalendar). A TimeZone is immutable and cheap to copy.

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

class TimeZone {
 public:
  /// Creates the time zone UTC.
  TimeZone() = default;
  /// Finds a time zone by its id. The id is an id of the system's tz database, including links and
  /// "EST", or one of Java's three-letter ids ("PST"). Custom ids such as "GMT+5" are not
  /// supported. InvalidArgument: the id is unknown. Ids that only some JVMs know ("SystemV/…") are
  /// unknown, too.
  static Result<TimeZone> Find(std::string_view id);
  /// Returns the time zone of the process, or UTC if the zone of the process cannot be determined.
  static TimeZone Local();

  /// Returns the offset of the zone from UTC at the time `ms`, in milliseconds.
  [[nodiscard]] int64_t OffsetAt(int64_t ms) const;
  /// Returns the first time after `ms` at which the offset from UTC may change, in milliseconds.
  /// Returns INT64_MAX if there is no such time.
  [[nodiscard]] int64_t NextChange(int64_t ms) const;
  /// Converts a local time to UTC. `local_ms` is the number of milliseconds from 1970-01-01 00:00
  /// local time, without regard to clock changes. If the local time does not exist because clocks
  /// were set forward, it moves forward by the length of the gap. If the local time exists twice,
  /// the function returns the later of the two times (standard time), as Java does.
  [[nodiscard]] int64_t FromLocal(int64_t local_ms) const;
  [[nodiscard]] int64_t ToLocal(int64_t ms) const { return ms + OffsetAt(ms); }

 private:
  explicit TimeZone(const void* zone) : zone_(zone) {}
  /// A date::time_zone of the tz database in memory, which is never freed. nullptr: UTC.
  const void* zone_ = nullptr;
};

/// Returns the number of days from 1970-01-01 to a date in the proleptic Gregorian calendar.
/// `month` and `day` may be out of range: month 13 is January of the next year.
int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day);

struct CivilDate {
  int64_t year = 1970;
  int month = 1;  // month of the year, 1 to 12
  int day = 1;
};
CivilDate CivilFromDays(int64_t days);

/// Returns a / b rounded toward minus infinity; b must be positive.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace hg::query
