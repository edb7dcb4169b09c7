#pragma once
// Time zones as the JVM of OpenTSDB knows them: ids of the tz database, offsets, and Java's reading
// of local times that do not exist or exist twice (java.util.GregorianCalendar). Immutable, cheap
// to copy.

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

class TimeZone {
 public:
  /// UTC.
  TimeZone() = default;
  /// A zone of the system's tz database, links and "EST" included, "GMT+5" not, and Java's own
  /// three letters ("PST"). InvalidArgument: unknown, also what only some JVMs know ("SystemV/…").
  static Result<TimeZone> Find(std::string_view id);
  /// The process' own zone; UTC if it cannot be told.
  static TimeZone Local();

  /// Milliseconds to add to UTC at that instant.
  [[nodiscard]] int64_t OffsetAt(int64_t ms) const;
  /// The instant of a local time (milliseconds as if it were UTC). In a gap: moved forward by the
  /// gap's length; twice: the later one (standard time), as Java does.
  [[nodiscard]] int64_t FromLocal(int64_t local_ms) const;
  [[nodiscard]] int64_t ToLocal(int64_t ms) const { return ms + OffsetAt(ms); }

 private:
  explicit TimeZone(const void* zone) : zone_(zone) {}
  const void* zone_ =
      nullptr;  // date::time_zone of the process-wide database, which lives for ever; null = UTC
};

/// Days since 1970-01-01 of a proleptic Gregorian date; month and day may be out of range and roll
/// over.
int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day);

struct CivilDate {
  int64_t year = 1970;
  int month = 1;  // 1…12
  int day = 1;
};
CivilDate CivilFromDays(int64_t days);

/// a / b rounded toward minus infinity, b > 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace hg::query
