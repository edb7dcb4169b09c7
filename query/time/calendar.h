#pragma once
// Computes the boundaries of calendar intervals (days, weeks, months and so on) in a time zone
// (opentsdb-queries.md §7.4). When clocks are set forward or back, the results are those of
// java.util.GregorianCalendar. A Calendar is immutable. All times are in milliseconds since the
// epoch.

#include <cstdint>

#include "query/time/duration.h"
#include "query/time/time_zone.h"

namespace hg::query {

class Calendar {
 public:
  Calendar(Duration interval, TimeZone zone) : interval_(interval), zone_(zone) {}

  /// Returns the last interval boundary at or before `t`. The intervals are counted from the start
  /// of a larger unit: for example, intervals of hours are counted from the start of the day. Weeks
  /// are an exception: each week is an interval of its own, even if the interval of the calendar
  /// has several weeks.
  [[nodiscard]] int64_t PreviousBoundary(int64_t t) const;
  /// Returns the boundary that is one interval after `boundary`. An interval of n weeks has n × 7
  /// days.
  [[nodiscard]] int64_t Next(int64_t boundary) const;
  /// Starts at `boundary` and adds whole intervals. Returns the last boundary of this sequence that
  /// is not after `t`. `boundary` must not be after `t`. Adds the number of examined boundaries to
  /// `*steps`. All days up to the next clock change are skipped at once; months and years are
  /// examined one by one.
  [[nodiscard]] int64_t LastUpTo(int64_t boundary, int64_t t, uint64_t* steps) const;
  /// Returns the first boundary from which points are used if a scan begins at `t`. The result is
  /// PreviousBoundary(t) if this boundary is equal to `t`, and otherwise the boundary after it.
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
