#pragma once
// Calendar intervals: days, weeks, months … of a time zone (spec query.md §7.4). Follows
// java.util.GregorianCalendar where the clock is set forward or back. Immutable; pure.

#include <cstdint>

#include "query/duration.h"
#include "query/time_zone.h"

namespace hg::query {

class Calendar {
 public:
  Calendar(Duration interval, TimeZone zone) : interval_(interval), zone_(zone) {}

  /// Latest boundary ≤ t, walking from the unit's anchor before t. For weeks the step is one week
  /// whatever the count.
  [[nodiscard]] int64_t PreviousBoundary(int64_t t) const;
  /// The boundary one interval after `boundary` (count · 7 days for weeks).
  [[nodiscard]] int64_t Next(int64_t boundary) const;
  /// Where a series is advanced to: PreviousBoundary(t), one interval later if that is before t.
  [[nodiscard]] int64_t Seek(int64_t t) const;

 private:
  [[nodiscard]] int64_t AddDays(int64_t t, int64_t days) const;
  [[nodiscard]] int64_t AddMonths(int64_t t, int64_t months) const;
  [[nodiscard]] int64_t Step(int64_t t, int64_t count) const;
  [[nodiscard]] int64_t Anchor(int64_t t) const;

  Duration interval_;
  TimeZone zone_;
};

}  // namespace hg::query
