// The samples that selectors see: look-back, stale markers, offset, @, ranges, subqueries.

#include <doctest/doctest.h>

#include "tests/query/promql/text_samples.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {

TEST_CASE("an instant vector shows the newest sample of the last five minutes") {
  TextSamples samples;
  samples.Load(0, 60, "up{a=\"1\"}", "1 2 3");
  CHECK(samples.Ask("up", -1) == "");
  CHECK(samples.Ask("up", 0) == "up{a=\"1\"} 1");
  CHECK(samples.Ask("up", 59) == "up{a=\"1\"} 1");
  CHECK(samples.Ask("up", 60) == "up{a=\"1\"} 2");
  CHECK(samples.Ask("up", 120 + 299.999) == "up{a=\"1\"} 3");
  CHECK(samples.Ask("up", 120 + 300) == "");
}

TEST_CASE("a stale marker ends a series until its next sample") {
  TextSamples samples;
  samples.Load(0, 10, "up", "1 stale 3");
  CHECK(samples.AskRange("up", 0, 5000, 6) == "up 1 1 _ _ 3 3");
  CHECK(samples.Ask("up[1m]", 59) == "up 1@0 3@20");
  CHECK(samples.Ask("count_over_time(up[16s])", 15) == "{} 1");
}

TEST_CASE("a NaN other than the stale marker is a sample") {
  TextSamples samples;
  samples.Load(0, 10, "up", "1 NaN");
  CHECK(samples.Ask("up", 10) == "up NaN");
  CHECK(samples.Ask("up + 1", 10) == "{} NaN");
}

TEST_CASE("a range includes its end but not its begin") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x10");
  CHECK(samples.Ask("up[20s]", 50) == "up 4@40 5@50");
  CHECK(samples.Ask("up[20s]", 55) == "up 4@40 5@50");
  CHECK(samples.Ask("up[20s] offset 10s", 50) == "up 3@30 4@40");
  CHECK(samples.Ask("up[5s]", 200) == "");
}

TEST_CASE("offset shifts backward or forward") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x100");
  CHECK(samples.Ask("up offset 30s", 50) == "up 2");
  CHECK(samples.Ask("up offset -30s", 50) == "up 8");
  CHECK(samples.AskRange("up offset 10s", 0, 10000, 4) == "up _ 0 1 2");
}

TEST_CASE("@ fixes the time for all steps") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x100");
  CHECK(samples.AskRange("up @ 20", 0, 10000, 3) == "up 2 2 2");
  CHECK(samples.AskRange("up @ end()", 0, 10000, 3) == "up 2 2 2");
  CHECK(samples.AskRange("up @ start() offset -10s", 100000, 10000, 2) == "up 11 11");
  CHECK(samples.AskRange("sum_over_time(up[20s] @ 30)", 0, 10000, 2) == "{} 5 5");
  CHECK(samples.AskRange("up - up @ 0", 0, 10000, 3) == "{} 0 1 2");
}

TEST_CASE("each selector reads once for all steps") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x100");
  CHECK(samples.AskRange("rate(up[20s]) + up", 100000, 10000, 50) != "");
  CHECK(samples.reads == 2);
}

TEST_CASE("a subquery evaluates at multiples of its step") {
  TextSamples samples;
  samples.Load(0, 10, "up", "0+1x100");
  CHECK(samples.Ask("up[60s:20s]", 105) == "up 6@60 8@80 10@100");
  CHECK(samples.Ask("up[60s:20s] offset 10s", 105) == "up 4@40 6@60 8@80");
  CHECK(samples.Ask("sum_over_time((up * 2)[60s:20s])", 105) == "{} 48");
  CHECK(samples.AskRange("max_over_time(up[30s:10s])", 30000, 10000, 3) == "{} 3 4 5");
  CHECK(samples.Ask("count_over_time(up[10m:])", 600) == "{} 10");
  CHECK(samples.Ask("max_over_time(rate(up[20s])[1m:10s])", 200) == "{} 0.1");
  CHECK(samples.Ask("count_over_time(vector(1)[1y:1s])", 0) ==
        "a subquery of 31536000 steps, more than 16777216");
}

TEST_CASE("timestamp returns the times of a selector's samples") {
  TextSamples samples;
  samples.Load(0, 10, "up{a=\"1\"}", "1 1 1");
  CHECK(samples.Ask("timestamp(up)", 25) == "{a=\"1\"} 20");
  CHECK(samples.Ask("timestamp((up))", 25) == "{a=\"1\"} 20");
  CHECK(samples.Ask("timestamp(up offset 10s)", 25) == "{a=\"1\"} 10");
  CHECK(samples.Ask("timestamp(up + 0)", 25) == "{a=\"1\"} 25");
}

TEST_CASE("absent returns the labels of its matchers") {
  TextSamples samples;
  samples.Load(0, 10, "up{a=\"1\"}", "1 _ _ 1");
  CHECK(samples.Ask("absent(up)", 0) == "");
  CHECK(samples.Ask("absent(down{a=\"x\",b=~\"y\",c!=\"z\"})", 0) == "{a=\"x\"} 1");
  CHECK(samples.Ask("absent(down{a=\"x\",a=\"y\"})", 0) == "{} 1");
  CHECK(samples.Ask("absent(sum(down{a=\"x\"}))", 0) == "{} 1");
  CHECK(samples.AskRange("absent_over_time(up{a=\"1\"}[5s])", 0, 10000, 4) == "{a=\"1\"} _ 1 1 _");
  CHECK(samples.AskRange("absent(up)", 0, 400000, 2) == "{} _ 1");
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
