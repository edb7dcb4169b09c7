#include "query/time/calendar.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hg::query {
namespace {

/// Returns the milliseconds of a local date and hour.
int64_t At(const TimeZone& zone, int64_t year, int64_t month, int64_t day, int64_t hour = 0) {
  return zone.FromLocal(DaysFromCivil(year, month, day) * 86'400'000 + hour * 3'600'000);
}

/// Returns "dd hh" in local time for n boundaries, starting with the one before t.
std::string Boundaries(const Calendar& calendar, const TimeZone& zone, int64_t t, int n) {
  std::string out;
  int64_t at = calendar.PreviousBoundary(t);
  for (int i = 0; i < n; ++i, at = calendar.Next(at)) {
    int64_t local = zone.ToLocal(at);
    CivilDate date = CivilFromDays(FloorDiv(local, 86'400'000));
    out += std::to_string(date.month) + "/" + std::to_string(date.day) + "-" +
           std::to_string((local - FloorDiv(local, 86'400'000) * 86'400'000) / 3'600'000) + " ";
  }
  return out;
}

TEST_CASE("calendar days begin at local midnight, also when clocks change") {
  TimeZone zone = *TimeZone::Find("America/Los_Angeles");
  Calendar days({1, TimeUnit::kDay}, zone);
  int64_t t = At(zone, 2017, 3, 11, 15);
  CHECK(Boundaries(days, zone, t, 4) == "3/11-0 3/12-0 3/13-0 3/14-0 ");
  CHECK(days.Next(At(zone, 2017, 3, 12)) - At(zone, 2017, 3, 12) == 23 * 3'600'000);
  CHECK(days.Next(At(zone, 2017, 11, 5)) - At(zone, 2017, 11, 5) == 25 * 3'600'000);
}

TEST_CASE("intervals of hours are counted in elapsed time when clocks change") {
  TimeZone zone = *TimeZone::Find("America/Los_Angeles");
  Calendar hours({6, TimeUnit::kHour}, zone);
  CHECK(Boundaries(hours, zone, At(zone, 2017, 3, 12, 1), 4) == "3/12-0 3/12-7 3/12-13 3/12-19 ");
}

TEST_CASE(
    "when clocks are set back, a time of the first pass has its previous boundary in the "
    "second pass") {
  TimeZone zone = *TimeZone::Find("Europe/Berlin");
  const Calendar seconds({10, TimeUnit::kSecond}, zone);
  constexpr int64_t kBack = 1'635'642'000'000;  // from 3 to 2 o'clock
  CHECK(seconds.PreviousBoundary(kBack - 3'600'000) == kBack - 10'000);
  CHECK(seconds.PreviousBoundary(kBack - 13'000) == kBack + 3'540'000 - 10'000);
  CHECK(seconds.PreviousBoundary(kBack) == kBack);
  CHECK(seconds.PreviousBoundary(kBack + 13'000) == kBack + 10'000);
}

TEST_CASE("weeks begin on Sunday, and their previous boundary ignores the count") {
  TimeZone utc;
  Calendar one({1, TimeUnit::kWeek}, utc);
  CHECK(Boundaries(one, utc, At(utc, 2017, 3, 8), 3) == "3/5-0 3/12-0 3/19-0 ");
  Calendar two({2, TimeUnit::kWeek}, utc);
  CHECK(two.PreviousBoundary(At(utc, 2017, 2, 23)) == At(utc, 2017, 2, 19));
  CHECK(two.Seek(At(utc, 2017, 2, 23)) == At(utc, 2017, 3, 5));
  CHECK(Boundaries(two, utc, At(utc, 2017, 3, 5), 2) == "3/5-0 3/19-0 ");
}

TEST_CASE("intervals that do not divide a day or a year are counted from its start") {
  TimeZone utc;
  CHECK(Boundaries({{7, TimeUnit::kHour}, utc}, utc, At(utc, 2017, 3, 1, 8), 2) == "3/1-7 3/1-14 ");
  CHECK(Boundaries({{3, TimeUnit::kMonth}, utc}, utc, At(utc, 2017, 5, 20), 2) == "4/1-0 7/1-0 ");
  CHECK(Boundaries({{2, TimeUnit::kYear}, utc}, utc, At(utc, 2017, 5, 20), 1) == "1/1-0 ");
  CHECK(Boundaries({{10, TimeUnit::kDay}, utc}, utc, At(utc, 2017, 1, 25), 2) == "1/21-0 1/31-0 ");
}

TEST_CASE("a midnight that does not exist moves forward") {
  TimeZone zone = *TimeZone::Find("America/Sao_Paulo");  // 2017-10-15 began at 01:00
  Calendar days({1, TimeUnit::kDay}, zone);
  int64_t gap = days.Next(At(zone, 2017, 10, 14));
  CHECK(zone.ToLocal(gap) - DaysFromCivil(2017, 10, 15) * 86'400'000 == 3'600'000);
}

TEST_CASE("a month or day out of range rolls over into the next or previous one") {
  CHECK(DaysFromCivil(1970, 1, 1) == 0);
  CHECK(DaysFromCivil(2000, 14, 1) == DaysFromCivil(2001, 2, 1));
  CHECK(DaysFromCivil(2000, 0, 1) == DaysFromCivil(1999, 12, 1));
  CHECK(DaysFromCivil(2000, 3, 0) == DaysFromCivil(2000, 2, 29));
}

TEST_CASE("skipping boundaries gives the same as stepping over them") {
  for (const char* name : {"UTC", "America/Los_Angeles", "Europe/Berlin", "Africa/Casablanca",
                           "Pacific/Apia", "America/Sao_Paulo", "Australia/Lord_Howe"}) {
    CAPTURE(std::string(name));
    const TimeZone zone = *TimeZone::Find(name);
    for (const Duration interval : {Duration{7, TimeUnit::kMillis},
                                    {11, TimeUnit::kSecond},
                                    {90, TimeUnit::kMinute},
                                    {5, TimeUnit::kHour},
                                    {1, TimeUnit::kDay},
                                    {5, TimeUnit::kDay},
                                    {1, TimeUnit::kWeek},
                                    {3, TimeUnit::kWeek},
                                    {1, TimeUnit::kMonth},
                                    {5, TimeUnit::kMonth},
                                    {1, TimeUnit::kYear}}) {
      const Calendar calendar(interval, zone);
      const int64_t begin =
          calendar.PreviousBoundary(At(zone, 1995, 3, 26, 2)) + 17 * interval.millis() / 16;
      int64_t at = begin;
      for (int n = 0; n < 3000; ++n) {
        const int64_t next = calendar.Next(at);
        uint64_t steps = 0;
        REQUIRE(calendar.LastUpTo(begin, next - 1, &steps) == at);
        REQUIRE(calendar.LastUpTo(begin, next, &steps) == next);
        if (interval.unit < TimeUnit::kMonth) REQUIRE(steps < 2000);
        at = next;
        if (n > 50 && interval.unit >= TimeUnit::kMonth) n += 9;
        if (at > 4'000'000'000'000) break;
      }
    }
  }
}

}  // namespace
}  // namespace hg::query
