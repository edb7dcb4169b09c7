#pragma once
// Calendar intervals: days, weeks, months and so on, in a time zone (opentsdb-queries.md §7.4).
// When clocks are set forward or back, the results are those of java.util.GregorianCalendar. A
// calendar is immutable.

#include <cstdint>

#include "query/time/duration.h"
#include "query/time/time_zone.h"

namespace hg::query {

class Calendar {
 public:
  Calendar(Duration interval, TimeZone zone) : interval_(interval), zone_(zone) {}

  /// Returns the last interval boundary at or before `t`. Intervals are counted from the start of a
  /// larger unit, for example hours from the start of the day. Weeks are an exception: each week
  /// begins a new interval, whatever the count is.
  [[nodiscard]] int64_t PreviousBoundary(int64_t t) const;
  /// Returns the boundary that is one interval after `boundary`. An interval of weeks has count × 7
  /// days.
  [[nodiscard]] int64_t Next(int64_t boundary) const;
  /// Returns the last boundary at or before `t`, counted in whole intervals from `boundary`.
  /// `boundary` must not be after `t`. Adds the number of examined boundaries to `*steps`. All days
  /// up to the next clock change are skipped at once; months and years are examined one by one.
  [[nodiscard]] int64_t LastUpTo(int64_t boundary, int64_t t, uint64_t* steps) const;
  /// Returns the boundary from which a series is read: the result of PreviousBoundary(t) if it is
  /// equal to `t`, and otherwise the boundary after this result.
  [[nodiscard]] int64_t Seek(int64_t t) const;

 private:
  [[nodiscard]] int64_t AddDays(int64_t t, int64_t days) const;
  [[nodiscard]] int64_t AddMonths(int64_t t, int64_t months) const;
  [[nodiscard]] int64_t Step(int64_t t, int64_t count) const;
  [[nodiscard]] int64_t Walk(int64_t at, int64_t t, int64_t count, uint64_t* steps) const;
  [[nodiscard]] int64_t Anchor(int64_t t) const;

  Duration interval_;
  TimeZone zone_;
};

}  // namespace hg::query
