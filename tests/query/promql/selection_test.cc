// The reads and limits of selectors. Their samples are proved by cases.test, and by the files and
// the server of Prometheus in tests/compat/promql.

#include <doctest/doctest.h>

#include "tests/query/promql/text_samples.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {

TEST_CASE("each selector reads once for all steps") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x100");
  CHECK(samples.AskRange("rate(up[20s]) + up", 100000, 10000, 50) != "");
  CHECK(samples.reads == 2);
}

TEST_CASE("the steps of a subquery are limited") {
  TextSamples samples;
  CHECK(samples.Ask("count_over_time(vector(1)[1y:1s])", 0) ==
        "a subquery of 31536000 steps, more than 16777216");
}

TEST_CASE("work and memory are reported, and their errors end the evaluation") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x100");
  FakeWatch watch;
  samples.watch = &watch;
  CHECK(samples.AskRange("sum(rate(up[1m]))", 100000, 1000, 500) != "");
  CHECK(watch.steps > 1000);
  CHECK(watch.bytes_most > 0);
  CHECK(watch.bytes == 0);
  watch.bytes_max = 1000;
  CHECK(samples.AskRange("up", 0, 1000, 500) == "too many bytes");
  watch.bytes_max = INT64_MAX;
  watch.steps_max = 0;
  CHECK(samples.AskRange("up", 0, 1000, 500) == "too many steps");
}

}  // namespace hg::query::promql
