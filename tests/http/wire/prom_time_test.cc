#include "http/wire/prom_time.h"

#include <doctest/doctest.h>

#include <utility>

namespace hg::http {

TEST_CASE("times are seconds or RFC 3339") {
  const std::pair<const char*, int64_t> cases[] = {
      {"0", 0},
      {"1435781430.781", 1435781430781},
      {"1435781430.7816", 1435781430782},
      {"-1.5", -1500},
      {"1e3", 1000000},
      {"2015-07-01T20:10:30.781Z", 1435781430781},
      {"2015-07-01T20:10:30Z", 1435781430000},
      {"2015-07-01T22:10:30.5+02:00", 1435781430500},
      {"2015-07-01T14:40:30-05:30", 1435781430000},
      {"1969-12-31T23:59:59Z", -1000},
  };
  for (const auto& [text, ms] : cases) {
    CAPTURE(text);
    const Result<int64_t> parsed = ParsePromTime(text);
    REQUIRE(parsed.ok());
    CHECK(*parsed == ms);
  }
  for (const char* text : {"", "now", "NaN", "inf", "1e300", "2015-07-01", "2015-02-30T00:00:00Z",
                           "2015-07-01T24:00:00Z", "2015-07-01T20:10:30", "2015-07-01T20:10:30.Z",
                           "2015-07-01T20:10:30Zx", "2015-7-01T20:10:30Z", "1h"}) {
    CAPTURE(text);
    CHECK(!ParsePromTime(text).ok());
  }
  CHECK(ParsePromTime("x").status().message() == "cannot parse \"x\" to a valid timestamp");
}

TEST_CASE("durations are seconds or units") {
  CHECK(*ParsePromDuration("15") == 15000);
  CHECK(*ParsePromDuration("0.0015") == 1);
  CHECK(*ParsePromDuration("-3") == -3000);
  CHECK(*ParsePromDuration("1h30m") == 5400000);
  for (const char* text : {"", "x", "1e10", "NaN", "5 m"}) {
    CAPTURE(text);
    CHECK(!ParsePromDuration(text).ok());
  }
}

}  // namespace hg::http
