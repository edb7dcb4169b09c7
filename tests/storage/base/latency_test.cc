#include "storage/base/latency.h"

#include <doctest/doctest.h>

namespace hg {
namespace {

TEST_CASE("percentiles are exact where times are short") {
  Latency latency;
  CHECK(latency.Percentile(95) == 0);
  for (int ms = 1; ms <= 20; ++ms) latency.Record(ms);
  CHECK(latency.Percentile(50) == 10);
  CHECK(latency.Percentile(75) == 15);
  CHECK(latency.Percentile(95) == 19);
  CHECK(latency.Percentile(100) == 20);
}

TEST_CASE("long times are told to an eighth, however long") {
  for (int64_t ms : {64, 65, 100, 1000, 59'999, 3'600'000}) {
    Latency latency;
    latency.Record(ms);
    CAPTURE(ms);
    CHECK(latency.Percentile(50) >= ms);
    CHECK(latency.Percentile(50) <= ms + ms / 8);
  }
  Latency latency;
  latency.Record(INT64_MAX);
  latency.Record(-1);
  CHECK(latency.Percentile(50) == 0);
  CHECK(latency.Percentile(95) > 3'600'000);
}

}  // namespace
}  // namespace hg
