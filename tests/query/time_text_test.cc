#include "query/time/time_text.h"

#include <doctest/doctest.h>

#include "query/time/duration.h"

namespace hg::query {
namespace {

constexpr int64_t kNow = 1'600'000'000'000;

int64_t Time(std::string_view text) {
  Result<int64_t> t = ParseTime(text, kNow, TimeZone());
  return t.ok() ? *t : -1;
}

TEST_CASE("times of every form are parsed") {
  CHECK(Time("now") == kNow);
  CHECK(Time("NOW") == kNow);
  CHECK(Time("1h-ago") == kNow - 3'600'000);
  CHECK(Time("1M-AGO") == kNow - 60'000);
  CHECK(Time("1500000000123ms") == 1'500'000'000'123);
  CHECK(Time("5ms") == 5);
  CHECK(Time("1500000000") == 1'500'000'000'000);
  CHECK(Time("1500000000123") == 1'500'000'000'123);
  CHECK(Time("1500000000.123") == 1'500'000'000'123);
  CHECK(Time("2017/07/14") == 1'499'990'400'000);
  CHECK(Time("2017/07/14-02:40") == 1'500'000'000'000);
  CHECK(Time("2017/07/14 02:40:01") == 1'500'000'001'000);
}

TEST_CASE("one or two digits after the dot are used unchanged") {
  CHECK(Time("1500000000.1") == 15'000'000'001);
  CHECK(Time("1500000000.12") == 150'000'000'012);
}

TEST_CASE("a plus sign counts as a digit") { CHECK(Time("+1500000000") == 1'500'000'000); }

TEST_CASE("a date after the end of its month rolls over") {
  CHECK(Time("2016/13/01") == Time("2017/01/01"));
  CHECK(Time("2017/02/30") == Time("2017/03/02"));
}

TEST_CASE("invalid times are refused") {
  for (const char* text :
       {"", "foo", "-5", "now-1h", "1e9", "1 500", "2017/07/1", "2017/07/14T02:40", "0h-ago",
        "h-ago", "1x-ago", "99999999999999999999", "999999999/1/1-1:1:1"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(ParseTime(text, kNow, TimeZone()).ok());
  }
}

TEST_CASE("dates are in the time zone of the query") {
  TimeZone tokyo = *TimeZone::Find("Asia/Tokyo");
  CHECK(*ParseTime("2017/07/14-11:40", kNow, tokyo) == 1'500'000'000'000);
}

TEST_CASE("time zones are those of the tz database") {
  CHECK(TimeZone::Find("EST").ok());
  CHECK(TimeZone::Find("Europe/Berlin").ok());
  CHECK_FALSE(TimeZone::Find("GMT+5").ok());
  CHECK_FALSE(TimeZone::Find("Nowhere/City").ok());
  CHECK_FALSE(TimeZone::Find("").ok());
}

TEST_CASE("Java's zones with three letters are known, and zones unknown to Java are not") {
  constexpr int64_t kJuly = 1'500'000'000'000;
  CHECK(TimeZone::Find("PST")->OffsetAt(kJuly) == -7 * 3'600'000);
  CHECK(TimeZone::Find("CST")->OffsetAt(kJuly) == -5 * 3'600'000);
  CHECK(TimeZone::Find("BST")->OffsetAt(kJuly) == 6 * 3'600'000);  // Bangladesh
  for (const char* id : {"GMT+0", "ROC", "Factory", "posix/UTC", "right/UTC"})
    CHECK_FALSE(TimeZone::Find(id).ok());
}

TEST_CASE("an error shows a whole character of UTF-8") {
  Result<int64_t> time = ParseTime("1\xC3\xA9", 0, *TimeZone::Find("UTC"));
  CHECK(std::string(time.status().message()).find("'\xC3\xA9'") != std::string::npos);
}

TEST_CASE("only the last character of a duration selects the unit") {
  CHECK(ParseDuration("90s")->millis() == 90'000);
  CHECK(ParseDuration("10ms")->millis() == 10);
  CHECK(ParseDuration("1w")->millis() == 604'800'000);
  CHECK(ParseDuration("10min")->millis() == 300 * 86'400'000LL);  // 10 "n"
  CHECK(ParseDuration("1.5h")->millis() == 3'600'000);
  CHECK_FALSE(ParseDuration("0s").ok());
  CHECK_FALSE(ParseDuration("12").ok());
  CHECK_FALSE(ParseDuration("9999999999y").ok());
}

}  // namespace
}  // namespace hg::query
