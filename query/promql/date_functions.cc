#include "query/promql/date_functions.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace hg::query::promql {
namespace {

constexpr int64_t kDaySeconds = 86400, kHourSeconds = 3600, kMinuteSeconds = 60;

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool IsLeap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysIn(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && IsLeap(year) ? 1 : 0);
}

/// Returns the days from 1970-01-01 to January 1 of the year.
int64_t DaysBefore(int64_t year) {
  const int64_t y = year - 1;
  constexpr int64_t kDaysBefore1970 = 719162;  // days from 0001-01-01 to 1970-01-01
  return 365 * y + FloorDiv(y, 4) - FloorDiv(y, 100) + FloorDiv(y, 400) - kDaysBefore1970;
}

/// A date in the proleptic Gregorian calendar.
struct Date {
  int64_t year = 0;
  int month = 1, day = 1, day_of_year = 1;
};

Date DateOf(int64_t days) {
  Date date;
  date.year = 1970 + FloorDiv(days * 400, 146097);  // an estimate that may be off by one
  while (DaysBefore(date.year) > days) --date.year;
  while (DaysBefore(date.year + 1) <= days) ++date.year;
  date.day_of_year = static_cast<int>(days - DaysBefore(date.year)) + 1;
  date.day = date.day_of_year;
  while (date.day > DaysIn(date.year, date.month)) date.day -= DaysIn(date.year, date.month++);
  return date;
}

/// A time in days since 1970-01-01 and seconds of the day.
struct Moment {
  int64_t days = 0, seconds = 0;
};

/// Converts a value in seconds. A value that is NaN or does not fit 64 bits becomes the second
/// 2^63, as in Prometheus on the usual processors.
Moment MomentOf(double value) {
  constexpr double kInt64Beyond = 9223372036854775808.0;
  constexpr Moment kBeyond = {106751991167300, 55808};
  if (!(value > -kInt64Beyond && value < kInt64Beyond)) return kBeyond;
  const auto seconds = static_cast<int64_t>(value);
  const int64_t days = FloorDiv(seconds, kDaySeconds);
  return {days, seconds - days * kDaySeconds};
}

template <typename Part>
double Of(double value, Part part) {
  return static_cast<double>(part(MomentOf(value)));
}

int64_t Weekday(Moment moment) {
  constexpr int64_t kThursday = 4;  // weekday of 1970-01-01
  const int64_t days = moment.days + kThursday;
  return days - FloorDiv(days, 7) * 7;
}

struct DateName {
  std::string_view name;
  DateFunction function;
};
constexpr DateName kDateFunctions[] = {
    {"day_of_month", [](double t) { return Of(t, [](Moment m) { return DateOf(m.days).day; }); }},
    {"day_of_week", [](double t) { return Of(t, Weekday); }},
    {"day_of_year",
     [](double t) { return Of(t, [](Moment m) { return DateOf(m.days).day_of_year; }); }},
    {"days_in_month",
     [](double t) {
       return Of(t, [](Moment m) { return DaysIn(DateOf(m.days).year, DateOf(m.days).month); });
     }},
    {"hour", [](double t) { return Of(t, [](Moment m) { return m.seconds / kHourSeconds; }); }},
    {"minute",
     [](double t) {
       return Of(t, [](Moment m) { return m.seconds % kHourSeconds / kMinuteSeconds; });
     }},
    {"month", [](double t) { return Of(t, [](Moment m) { return DateOf(m.days).month; }); }},
    {"year", [](double t) { return Of(t, [](Moment m) { return DateOf(m.days).year; }); }},
};

}  // namespace

DateFunction FindDateFunction(std::string_view name) {
  for (const DateName& named : kDateFunctions) {
    if (named.name == name) return named.function;
  }
  return nullptr;
}

}  // namespace hg::query::promql
