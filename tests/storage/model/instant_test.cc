#include "storage/model/instant.h"

#include <doctest/doctest.h>

namespace hg {
namespace {

TEST_CASE("an instant in milliseconds becomes seconds where it is a whole one") {
  CHECK(TimestampOfMillis(0)->raw == 0);
  CHECK(TimestampOfMillis(1700000000000)->raw == 1700000000);
  CHECK(TimestampOfMillis(1700000000123)->raw == 1700000000123);
  CHECK(TimestampOfMillis(kTimestampMax)->raw == kTimestampMax);
  // Seconds that would read as milliseconds.
  CHECK(TimestampOfMillis(4294967295000)->raw == 4294967295);
  CHECK(TimestampOfMillis(4294967296000)->raw == 4294967296000);
}

TEST_CASE("what no column could say is no time") {
  CHECK_FALSE(TimestampOfMillis(-1));
  CHECK_FALSE(TimestampOfMillis(kTimestampMax + 1));
  CHECK_FALSE(TimestampOfMillis(1500));  // 1500 s, if it were written so
  CHECK_FALSE(TimestampOfMillis(4294967295));
  CHECK(TimestampOfMillis(4294967296)->raw == 4294967296);
}

}  // namespace
}  // namespace hg
