#pragma once
// Calendar intervals: days, weeks, months and so on in a time zone (opentsdb-queries.md §7.4).
// Follows java.util.GregorianCalendar when clocks are set forward or back. Immutable.

#include <cstdint>

#include "query/time/duration.h"
#include "query/time/time_zone.h"

namespace hg::query {

class Calendar {
 public:
  Calendar(Duration interval, TimeZone zone) : interval_(interval), zone_(zone) {}

  /// Returns the last boundary at or before `t`. Boundaries are counted in intervals from the begin
  /// of the enclosing larger unit. For weeks, every week begins an interval, whatever the count is.
  [[nodiscard]] int64_t PreviousBoundary(int64_t t) const;
  /// Returns the boundary one interval after `boundary`. For weeks, an interval is count × 7 days.
  [[nodiscard]] int64_t Next(int64_t boundary) const;
  /// Returns the last boundary at or before `t`, counted in whole intervals from `boundary`, which
  /// must be at or before `t`. Adds the number of examined boundaries to `*steps`. All days up to
  /// the next clock change are skipped at once; months and years are counted one by one.
  [[nodiscard]] int64_t LastUpTo(int64_t boundary, int64_t t, uint64_t* steps) const;
  /// Returns the boundary from which on a series is read: PreviousBoundary(t), or the next boundary
  /// if that is before `t`.
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
