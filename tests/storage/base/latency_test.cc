#include "storage/base/latency.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace hg {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST_CASE("percentiles of short durations are exact") {
  Latency latency;
  CHECK(latency.Percentile(95) == 0);
  for (int ms = 1; ms <= 20; ++ms) latency.Record(milliseconds(ms));
  CHECK(latency.Percentile(50) == 10);
  CHECK(latency.Percentile(75) == 15);
  CHECK(latency.Percentile(95) == 19);
  CHECK(latency.Percentile(100) == 20);
}

TEST_CASE("long durations are accurate to an eighth") {
  for (int64_t ms : {64, 65, 100, 1000, 59'999, 3'600'000}) {
    Latency latency;
    latency.Record(milliseconds(ms));
    CAPTURE(ms);
    CHECK(latency.Percentile(50) >= ms);
    CHECK(latency.Percentile(50) <= ms + ms / 8);
  }
  Latency latency;
  latency.Record(nanoseconds::max());
  latency.Record(nanoseconds(-1));
  CHECK(latency.Percentile(50) == 0);
  CHECK(latency.Percentile(95) > 3'600'000);
}

TEST_CASE("a histogram counts durations up to each bound, and the sum of all") {
  Latency latency;
  CHECK(latency.Histogram().count == 0);
  for (const nanoseconds took :
       {nanoseconds(0), nanoseconds(microseconds(100)), nanoseconds(100'001),
        nanoseconds(milliseconds(10)), nanoseconds(seconds(60)), nanoseconds(seconds(61))})
    latency.Record(took);
  const LatencyHistogram read = latency.Histogram();
  const auto within = [&read](nanoseconds bound) {
    const auto& bounds = LatencyHistogram::kBounds;
    const auto at = std::find(bounds.begin(), bounds.end(), bound);
    REQUIRE(at != bounds.end());
    return read.within[static_cast<size_t>(at - bounds.begin())];
  };
  CHECK(within(microseconds(100)) == 2);
  CHECK(within(microseconds(250)) == 3);
  CHECK(within(milliseconds(5)) == 3);
  CHECK(within(milliseconds(10)) == 4);
  CHECK(within(seconds(30)) == 4);
  CHECK(within(seconds(60)) == 5);
  CHECK(read.count == 6);
  CHECK(read.sum == seconds(121) + milliseconds(10) + microseconds(200) + nanoseconds(1));
  CHECK(std::is_sorted(LatencyHistogram::kBounds.begin(), LatencyHistogram::kBounds.end()));
}

}  // namespace
}  // namespace hg
