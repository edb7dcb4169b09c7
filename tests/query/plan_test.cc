#include <doctest/doctest.h>

#include "query/time/scan_window.h"

namespace hg::query {
namespace {

TEST_CASE("the scan covers whole hours and one second more than requested") {
  CHECK(PlanScan(1'500'000'123'456, 1'500'003'599'000, 0) ==
        ScanWindow{1'499'997'600, 1'500'004'800});
  // An end in the last second of an hour adds another hour.
  CHECK(PlanScan(1'500'000'000'000, 1'500'001'199'000, 0).end_s == 1'500'004'800);
  CHECK(PlanScan(1'500'000'000'000, 1'500'001'198'000, 0).end_s == 1'500'001'200);
}

TEST_CASE("an interval widens the scan to its last bucket") {
  CHECK(PlanScan(1'500'000'000'000, 1'500'004'800'000, 3'600'000).end_s == 1'500'008'400);
  CHECK(PlanScan(1'500'000'000'000, 1'500'004'700'000, 3'600'000).end_s == 1'500'004'800);
  // 7 h buckets: the start goes back to its bucket.
  CHECK(PlanScan(1'500'000'000'000, 1'500'004'700'000, 25'200'000).begin_s == 1'499'979'600);
}

TEST_CASE("a calendar interval counts with its nominal length") {
  // 2017-01-01 … 2017-03-15 by months of 30 days: 2016-12-25 … 2017-03-25.
  CHECK(PlanScan(1'483'228'800'000, 1'489'536'000'000, 30 * 86'400'000LL) ==
        ScanWindow{1'482'624'000, 1'490'400'000});
}

TEST_CASE("a range that ends after the year 2106 ends in 1970") {
  const ScanWindow window = PlanScan(1'300'000'000'000, 9'999'999'999'999, 0);
  CHECK(window.end_s == 10'000'000'800);
  CHECK(window.end_ms() == 10'000'000'800);  // read as milliseconds: 1970-04-26
  CHECK(PlanScan(1'300'000'000'000, 4'294'960'000'000, 0).end_ms() == 4'294'962'000'000);
}

TEST_CASE("an interval that is longer than all times has the points of all times") {
  const ScanWindow all = PlanScan(1'300'000'000'000, 1'300'000'100'000, kIntervalMaxMs);
  CHECK(all == ScanWindow{0, 4'294'965'600});
}

TEST_CASE("times below 2^32 count as seconds") {
  CHECK(PlanScan(0, 7200, 0) == ScanWindow{0, 10'800});
}

}  // namespace
}  // namespace hg::query
