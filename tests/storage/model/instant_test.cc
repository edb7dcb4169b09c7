#include "storage/model/instant.h"

#include <doctest/doctest.h>

namespace hg {
namespace {

TEST_CASE("a time in milliseconds is stored in seconds if it is a whole second") {
  CHECK(TimestampOfMillis(1000)->raw == 1);
  CHECK(TimestampOfMillis(1700000000000)->raw == 1700000000);
  CHECK(TimestampOfMillis(1700000000123)->raw == 1700000000123);
  CHECK(TimestampOfMillis(kInstantMaxMs)->raw == 4294967295999);
  // The largest time that is a whole second.
  CHECK(TimestampOfMillis(4294967295000)->raw == 4294967295);
}

TEST_CASE("times that no column can represent are refused") {
  CHECK_FALSE(TimestampOfMillis(0));
  CHECK_FALSE(TimestampOfMillis(-1));
  CHECK_FALSE(TimestampOfMillis(kInstantMaxMs + 1));  // no row base has so many seconds
  CHECK_FALSE(TimestampOfMillis(INT64_MAX));
  CHECK_FALSE(TimestampOfMillis(1500));  // 1500 as a time means 1500 seconds
  CHECK_FALSE(TimestampOfMillis(4294967295));
  CHECK(TimestampOfMillis(4294967296)->raw == 4294967296);
}

}  // namespace
}  // namespace hg
