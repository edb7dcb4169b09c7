#include "query/promql/date_functions.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace hg::query::promql {
namespace {

constexpr int64_t kDaySeconds = 86400, kHourSeconds = 3600, kMinuteSeconds = 60;
constexpr double kSecondsMax = 1e15;  // some thirty million years

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

Date DateOf(int64_t seconds) {
  const int64_t days = FloorDiv(seconds, kDaySeconds);
  Date date;
  date.year = 1970 + FloorDiv(days * 400, 146097);  // an estimate that may be off by one
  while (DaysBefore(date.year) > days) --date.year;
  while (DaysBefore(date.year + 1) <= days) ++date.year;
  date.day_of_year = static_cast<int>(days - DaysBefore(date.year)) + 1;
  date.day = date.day_of_year;
  while (date.day > DaysIn(date.year, date.month)) date.day -= DaysIn(date.year, date.month++);
  return date;
}

template <typename Part>
double Of(double seconds, Part part) {
  if (!(std::abs(seconds) < kSecondsMax)) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part(static_cast<int64_t>(seconds)));
}

int64_t InDay(int64_t s) { return s - FloorDiv(s, kDaySeconds) * kDaySeconds; }

int64_t Weekday(int64_t s) {
  constexpr int64_t kThursday = 4;  // weekday of 1970-01-01
  const int64_t days = FloorDiv(s, kDaySeconds) + kThursday;
  return days - FloorDiv(days, 7) * 7;
}

struct Named {
  std::string_view name;
  DateFunction function;
};
constexpr Named kFunctions[] = {
    {"day_of_month", [](double t) { return Of(t, [](int64_t s) { return DateOf(s).day; }); }},
    {"day_of_week", [](double t) { return Of(t, Weekday); }},
    {"day_of_year",
     [](double t) { return Of(t, [](int64_t s) { return DateOf(s).day_of_year; }); }},
    {"days_in_month",
     [](double t) {
       return Of(t, [](int64_t s) { return DaysIn(DateOf(s).year, DateOf(s).month); });
     }},
    {"hour", [](double t) { return Of(t, [](int64_t s) { return InDay(s) / kHourSeconds; }); }},
    {"minute",
     [](double t) {
       return Of(t, [](int64_t s) { return InDay(s) % kHourSeconds / kMinuteSeconds; });
     }},
    {"month", [](double t) { return Of(t, [](int64_t s) { return DateOf(s).month; }); }},
    {"year", [](double t) { return Of(t, [](int64_t s) { return DateOf(s).year; }); }},
};

}  // namespace

DateFunction FindDateFunction(std::string_view name) {
  for (const Named& named : kFunctions) {
    if (named.name == name) return named.function;
  }
  return nullptr;
}

}  // namespace hg::query::promql
