#pragma once
// Time zones with the rules of Java, as OpenTSDB uses them. The rules concern the ids of the tz
// database, offsets, and local times that do not exist or exist twice
// (java.util.GregorianCalendar). A time zone is immutable and cheap to copy.

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

class TimeZone {
 public:
  /// Creates the time zone UTC.
  TimeZone() = default;
  /// Finds a time zone by its id. The id is one of the system's tz database, including links and
  /// "EST", or one of Java's three-letter ids ("PST"). Custom ids such as "GMT+5" are not
  /// supported. InvalidArgument: the id is unknown. This includes ids that only some JVMs know
  /// ("SystemV/…").
  static Result<TimeZone> Find(std::string_view id);
  /// Returns the time zone of the process, or UTC if the zone of the process cannot be determined.
  static TimeZone Local();

  /// Returns the offset of the zone from UTC at the time `ms`, in milliseconds.
  [[nodiscard]] int64_t OffsetAt(int64_t ms) const;
  /// Returns the first time after `ms` at which the offset may change, or INT64_MAX if there is no
  /// such time.
  [[nodiscard]] int64_t NextChange(int64_t ms) const;
  /// Converts a local time to UTC. `local_ms` has the milliseconds of the local time as if it were
  /// UTC. A local time that does not exist moves forward by the length of the gap. If a local time
  /// exists twice, the function returns the later of the two times (standard time), as Java does.
  [[nodiscard]] int64_t FromLocal(int64_t local_ms) const;
  [[nodiscard]] int64_t ToLocal(int64_t ms) const { return ms + OffsetAt(ms); }

 private:
  explicit TimeZone(const void* zone) : zone_(zone) {}
  const void* zone_ =
      nullptr;  // a date::time_zone of the tz database in memory, which is never freed; null = UTC
};

/// Returns the number of days from 1970-01-01 to a date in the proleptic Gregorian calendar. Month
/// and day may be out of range; they then roll over.
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
