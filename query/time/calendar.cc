#include "query/time/calendar.h"

#include <algorithm>

#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;

int64_t ElapsedUnit(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis:
      return 1;
    case TimeUnit::kSecond:
      return kSecondMs;
    case TimeUnit::kMinute:
      return kMinuteMs;
    case TimeUnit::kHour:
      return kHourMs;
    default:
      return 0;  // days and longer units are added in local time
  }
}

}  // namespace

// Like GregorianCalendar.add(DAY_OF_MONTH): keeps the local time of day. A time that does not exist
// on the new day moves forward. If days are added to the result, it keeps its new time of day.
int64_t Calendar::AddDays(int64_t t, int64_t days) const {
  int64_t offset = zone_.OffsetAt(t);
  int64_t date = FloorDiv(t + offset, kDayMs);
  int64_t time_of_day = t + offset - date * kDayMs;
  date += days;
  int64_t out = date * kDayMs + time_of_day - offset;
  int64_t change = offset - zone_.OffsetAt(out);
  if (change == 0) return out;
  int64_t adjusted = out + change;
  return FloorDiv(zone_.ToLocal(adjusted), kDayMs) == date ? adjusted : out;
}

int64_t Calendar::AddMonths(int64_t t, int64_t months) const {
  int64_t local = zone_.ToLocal(t);
  int64_t date = FloorDiv(local, kDayMs);
  CivilDate civil = CivilFromDays(date);
  int64_t shifted = DaysFromCivil(civil.year, civil.month + months, civil.day);
  return zone_.FromLocal(shifted * kDayMs + (local - date * kDayMs));
}

int64_t Calendar::Step(int64_t t, int64_t count) const {
  switch (interval_.unit) {
    case TimeUnit::kDay:
      return AddDays(t, count);
    case TimeUnit::kWeek:
      return AddDays(t, count * 7);
    case TimeUnit::kMonth:
      return AddMonths(t, count);
    case TimeUnit::kYear:
      return AddMonths(t, count * 12);
    default:
      return t + count * ElapsedUnit(interval_.unit);
  }
}

int64_t Calendar::Anchor(int64_t t) const {
  int64_t local = zone_.ToLocal(t);
  int64_t date = FloorDiv(local, kDayMs);
  CivilDate civil = CivilFromDays(date);
  // If a local hour occurs twice, the second one is meant, as in GregorianCalendar.set.
  auto local_cut = [&](int64_t unit) { return zone_.FromLocal(FloorDiv(local, unit) * unit); };
  auto start_of = [&](int64_t year, int64_t month, int64_t day) {
    return zone_.FromLocal(DaysFromCivil(year, month, day) * kDayMs);
  };
  int64_t n = interval_.count;
  switch (interval_.unit) {
    case TimeUnit::kMillis:
      return local_cut(1000 % n == 0 ? kSecondMs : kMinuteMs);
    case TimeUnit::kSecond:
      return local_cut(60 % n == 0 ? kMinuteMs : kHourMs);
    case TimeUnit::kMinute:
      return 60 % n == 0 ? local_cut(kHourMs) : zone_.FromLocal(date * kDayMs);
    case TimeUnit::kHour:
      return 24 % n == 0 ? zone_.FromLocal(date * kDayMs) : start_of(civil.year, civil.month, 1);
    case TimeUnit::kDay:
      return n == 1 ? start_of(civil.year, civil.month, 1) : start_of(civil.year, 1, 1);
    case TimeUnit::kWeek: {
      int64_t weekday =
          (date + 4) - FloorDiv(date + 4, 7) * 7;  // 1970-01-01 was a Thursday; Sunday is 0
      return zone_.FromLocal((date - weekday) * kDayMs);
    }
    case TimeUnit::kMonth:
    case TimeUnit::kYear:
      return start_of(civil.year, 1, 1);
  }
  return t;
}

int64_t Calendar::PreviousBoundary(int64_t t) const {
  int64_t at = Anchor(t);
  if (at == t) return at;
  const int64_t count = interval_.unit == TimeUnit::kWeek ? 1 : interval_.count;
  if (at > t) return Step(at, -count);  // `t` is in the first pass of an hour that occurs twice
  uint64_t steps = 0;
  return Walk(at, t, count, &steps);
}

// Repeats steps of `count` units from `at`. Returns the last result that is not after `t`. While
// the offset of the zone does not change, AddDays adds exact multiples of a day, so these steps are
// computed by a division.
int64_t Calendar::Walk(int64_t at, int64_t t, int64_t count, uint64_t* steps) const {
  if (const int64_t unit = ElapsedUnit(interval_.unit) * count; unit > 0) {
    ++*steps;
    return at + (t - at) / unit * unit;
  }
  const bool days = interval_.unit == TimeUnit::kDay || interval_.unit == TimeUnit::kWeek;
  const int64_t unit = count * kDayMs * (interval_.unit == TimeUnit::kWeek ? 7 : 1);
  for (;;) {
    ++*steps;
    if (days) {
      const int64_t last = std::min(zone_.NextChange(at) - 1, t);
      if (last > at) at += (last - at) / unit * unit;
    }
    const int64_t next = Step(at, count);
    if (next > t || next <= at) return at;
    at = next;
  }
}

int64_t Calendar::LastUpTo(int64_t boundary, int64_t t, uint64_t* steps) const {
  return Walk(boundary, t, interval_.count, steps);
}

int64_t Calendar::Next(int64_t boundary) const { return Step(boundary, interval_.count); }

int64_t Calendar::Seek(int64_t t) const {
  int64_t previous = PreviousBoundary(t);
  return previous < t ? Next(previous) : previous;
}

}  // namespace hg::query
