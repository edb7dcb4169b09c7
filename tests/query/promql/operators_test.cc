// Operators and aggregations.

#include <doctest/doctest.h>

#include "tests/query/promql/text_samples.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

TextSamples Machines() {
  TextSamples samples;
  samples.Load(0, 10, "cpu{host=\"a\",core=\"0\"}", "1 2");
  samples.Load(0, 10, "cpu{host=\"a\",core=\"1\"}", "3 4");
  samples.Load(0, 10, "cpu{host=\"b\",core=\"0\"}", "5 stale");
  samples.Load(0, 10, "info{host=\"a\",os=\"x\"}", "1 1");
  samples.Load(0, 10, "info{host=\"b\",os=\"y\"}", "1 1");
  return samples;
}

}  // namespace

TEST_CASE("arithmetic with scalars works") {
  TextSamples samples;
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},       {"2 ^ 10", "1024"},
      {"7 % 4", "3"},           {"-7 % 4", "-3"},
      {"1 / 0", "+Inf"},        {"0 / 0", "NaN"},
      {"1 < bool 2", "1"},      {"1 == bool 2", "0"},
      {"NaN == bool NaN", "0"}, {"1 atan2 1", "0.7853981633974483"},
  };
  for (const auto& [text, value] : cases) {
    CAPTURE(text);
    CHECK(samples.Ask(text, 0) == value);
  }
}

TEST_CASE("a comparison with a scalar filters, or returns 0 or 1 with bool") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("cpu > 2", 0) ==
        "cpu{core=\"1\", host=\"a\"} 3; cpu{core=\"0\", host=\"b\"} 5");
  CHECK(samples.Ask("2 < cpu", 0) ==
        "cpu{core=\"1\", host=\"a\"} 3; cpu{core=\"0\", host=\"b\"} 5");
  CHECK(samples.Ask("cpu{host=\"a\"} >= bool 3", 0) ==
        "{core=\"0\", host=\"a\"} 0; {core=\"1\", host=\"a\"} 1");
  CHECK(samples.AskRange("cpu > 3", 0, 10000, 2) ==
        "cpu{core=\"1\", host=\"a\"} _ 4; cpu{core=\"0\", host=\"b\"} 5 _");
}

TEST_CASE("arithmetic drops the metric name") {
  TextSamples samples;
  samples.Load(0, 10, "m{a=\"1\"}", "0");
  CHECK(samples.Ask("m * 2", 0) == "{a=\"1\"} 0");
  CHECK(samples.Ask("m * m", 0) == "{a=\"1\"} 0");
  CHECK(samples.Ask("m atan2 1", 0) == "{a=\"1\"} 0");
  CHECK(samples.Ask("m atan2 m", 0) == "{a=\"1\"} 0");
}

TEST_CASE("vectors match one to one by all labels, on some, or ignoring some") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("cpu / cpu", 0) ==
        "{core=\"0\", host=\"a\"} 1; {core=\"1\", host=\"a\"} 1; {core=\"0\", host=\"b\"} 1");
  CHECK(samples.Ask("cpu{core=\"0\"} + on(host) info", 0) == "{host=\"a\"} 2; {host=\"b\"} 6");
  CHECK(samples.Ask("cpu{core=\"0\"} - ignoring(core, os) info", 0) ==
        "{host=\"a\"} 0; {host=\"b\"} 4");
  CHECK(samples.Ask("cpu + info", 0) == "");
  CHECK(samples.Ask("cpu{core=\"0\"} > on(host) info", 0) == "{host=\"b\"} 5");
  CHECK(samples.Ask("cpu > ignoring(x) cpu offset -10s", 0) == "");
  CHECK(samples.Ask("cpu == bool cpu", 10) ==
        "{core=\"0\", host=\"a\"} 1; {core=\"1\", host=\"a\"} 1");
}

TEST_CASE("one series may match many if a side is named") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("cpu * on(host) group_left(os) info", 0) ==
        "{core=\"0\", host=\"a\", os=\"x\"} 1; {core=\"1\", host=\"a\", os=\"x\"} 3; "
        "{core=\"0\", host=\"b\", os=\"y\"} 5");
  CHECK(samples.Ask("info - on(host) group_right cpu", 0) ==
        "{core=\"0\", host=\"a\"} 0; {core=\"1\", host=\"a\"} -2; {core=\"0\", host=\"b\"} -4");
  CHECK(samples.Ask("info < on(host) group_right cpu", 0) ==
        "cpu{core=\"1\", host=\"a\"} 1; cpu{core=\"0\", host=\"b\"} 1");
}

TEST_CASE("ambiguous matches are refused") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("info * on(host) cpu", 0) ==
        "found duplicate series for the match group {host=\"a\"} on the right hand-side of the "
        "operation: {__name__=\"cpu\", core=\"0\", host=\"a\"}, {__name__=\"cpu\", core=\"1\", "
        "host=\"a\"}; many-to-many matching is not allowed: matching labels must be unique on one "
        "side");
  CHECK(samples.Ask("cpu * on(host) info", 0) ==
        "multiple matches for labels {host=\"a\"}: many-to-one matching must be explicit "
        "(group_left/group_right)");
  CHECK(samples.Ask("{host=\"a\"} * on(host) group_left(core) info{host=\"a\"}", 0) ==
        "multiple matches for labels {host=\"a\"}: grouping labels must ensure unique matches");
}

TEST_CASE("set operators depend on the samples at each step") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("info and on(host) cpu{host=\"b\"}", 0) == "info{host=\"b\", os=\"y\"} 1");
  CHECK(samples.Ask("info unless on(host) cpu{host=\"b\"}", 0) == "info{host=\"a\", os=\"x\"} 1");
  CHECK(samples.AskRange("info and on(host) cpu{host=\"b\"}", 0, 10000, 2) ==
        "info{host=\"b\", os=\"y\"} 1 _");
  CHECK(samples.AskRange("cpu{host=\"b\"} or on(host) info", 0, 10000, 2) ==
        "cpu{core=\"0\", host=\"b\"} 5 _; info{host=\"a\", os=\"x\"} 1 1; "
        "info{host=\"b\", os=\"y\"} _ 1");
  CHECK(samples.Ask("nothing or info{host=\"a\"}", 0) == "info{host=\"a\", os=\"x\"} 1");
}

TEST_CASE("aggregations group by labels or without them") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("sum(cpu)", 0) == "{} 9");
  CHECK(samples.Ask("sum by (host) (cpu)", 0) == "{host=\"a\"} 4; {host=\"b\"} 5");
  CHECK(samples.Ask("sum without (core) (cpu)", 0) == "{host=\"a\"} 4; {host=\"b\"} 5");
  CHECK(samples.AskRange("sum by (host) (cpu)", 0, 10000, 2) ==
        "{host=\"a\"} 4 6; {host=\"b\"} 5 _");
  CHECK(samples.Ask("avg(cpu)", 0) == "{} 3");
  CHECK(samples.Ask("min(cpu)", 0) == "{} 1");
  CHECK(samples.Ask("max(cpu)", 0) == "{} 5");
  CHECK(samples.Ask("count by (core) (cpu)", 0) == "{core=\"0\"} 2; {core=\"1\"} 1");
  CHECK(samples.Ask("group(cpu)", 0) == "{} 1");
  CHECK(samples.Ask("stddev(cpu{host=\"a\"})", 0) == "{} 1");
  CHECK(samples.Ask("stdvar(cpu{host=\"a\"})", 0) == "{} 1");
  CHECK(samples.Ask("quantile(0.5, cpu)", 0) == "{} 3");
  CHECK(samples.Ask("quantile by (host) (0.25, cpu)", 0) == "{host=\"a\"} 1.5; {host=\"b\"} 5");
  CHECK(samples.Ask("count by (__name__) ({host=\"a\"})", 0) == "cpu 2; info 1");
  CHECK(samples.Ask("sum(nothing)", 0) == "");
}

TEST_CASE("min and max prefer numbers to NaN") {
  TextSamples samples;
  samples.Load(0, 10, "m{a=\"1\"}", "NaN NaN");
  samples.Load(0, 10, "m{a=\"2\"}", "1 _ _");
  CHECK(samples.Ask("min(m)", 0) == "{} 1");
  CHECK(samples.Ask("max(m)", 0) == "{} 1");
  CHECK(samples.Ask("max(m{a=\"1\"})", 0) == "{} NaN");
  CHECK(samples.Ask("sum(m)", 0) == "{} NaN");
  CHECK(samples.Ask("topk(1, m)", 0) == "m{a=\"2\"} 1");
  CHECK(samples.Ask("bottomk(2, m)", 0) == "m{a=\"2\"} 1; m{a=\"1\"} NaN");
}

TEST_CASE("topk and bottomk keep labels") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("topk(2, cpu)", 0) ==
        "cpu{core=\"0\", host=\"b\"} 5; cpu{core=\"1\", host=\"a\"} 3");
  CHECK(samples.Ask("bottomk by (host) (1, cpu)", 0) ==
        "cpu{core=\"0\", host=\"a\"} 1; cpu{core=\"0\", host=\"b\"} 5");
  CHECK(samples.AskRange("topk(1, cpu)", 0, 10000, 2) ==
        "cpu{core=\"1\", host=\"a\"} _ 4; cpu{core=\"0\", host=\"b\"} 5 _");
  CHECK(samples.Ask("topk(0, cpu)", 0) == "");
  CHECK(samples.Ask("topk(NaN, cpu)", 0) == "Parameter value is NaN");
  CHECK(samples.Ask("topk(1e300, cpu{host=\"b\"})", 0).starts_with("Scalar value 1000"));
}

TEST_CASE("count_values adds its own label") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("count_values(\"v\", info)", 0) == "{v=\"1\"} 2");
  CHECK(samples.Ask("count_values by (host) (\"v\", cpu)", 0) ==
        "{host=\"a\", v=\"1\"} 1; {host=\"a\", v=\"3\"} 1; {host=\"b\", v=\"5\"} 1");
  CHECK(samples.Ask("count_values without (core, host) (\"v\", cpu * 0)", 0) == "{v=\"0\"} 3");
  CHECK(samples.AskRange("count_values(\"v\", cpu{core=\"0\",host=\"a\"})", 0, 10000, 2) ==
        "{v=\"1\"} 1 _; {v=\"2\"} _ 1");
  CHECK(samples.Ask("count_values(\"\", cpu)", 0) == "count_values: a label needs a name");
}

TEST_CASE("duplicates on the one side are found without examining all of the other side") {
  constexpr int kSeries = 20'000;
  FakeWatch watch;
  TextSamples samples;
  samples.watch = &watch;
  for (int i = 0; i < kSeries; ++i) {
    for (const char* metric : {"a", "b"})
      samples.Load(0, 10, metric + ("{host=\"" + std::to_string(i)) + "\"}", "1 1 1");
  }
  std::string answer;
  const double seconds = CpuSecondsOf([&] {
    answer =
        samples.AskRange("(a > 1e18) * on(host) group_left() {__name__=~\"a|b\"}", 0, 10'000, 3);
  });
  CHECK(answer.empty());
  CHECK(seconds < 1);  // a quadratic search took seconds
  CHECK(watch.steps > kSeries * 2);
  // A many side with samples is still refused, whichever series they belong to.
  CHECK(samples.Ask("a * on(host) group_left() {__name__=~\"a|b\"}", 0).find("found duplicate") ==
        0);
  CHECK(samples.Ask("(a > 1e18) * on(host) group_left() {__name__=~\"a|b\"}", 0).empty());
}

TEST_CASE("groups, matches and the names of results are charged and watched") {
  constexpr int kSeries = 2000;
  TextSamples samples;
  for (int i = 0; i < kSeries; ++i)
    samples.Load(0, 10, "a{host=\"a-rather-long-name-of-a-host-" + std::to_string(i) + "\"}", "1");
  for (const char* text :
       {"sum by (host) (a)", "topk(1, a) by (host)", "quantile(0.5, a) by (host)",
        "count_values(\"v\", a) by (host)", "a + on(host) a", "a and on(host) a", "-a", "sort(a)",
        "label_replace(a, \"x\", \"$1\", \"host\", \"(.*)\")",
        "label_join(a, \"x\", \"-\", \"host\", \"host\")", "histogram_quantile(0.5, a)"}) {
    CAPTURE(text);
    FakeWatch watch;
    samples.watch = &watch;
    samples.Ask(text, 0);
    CHECK(watch.bytes_most > kSeries * 100);
    CHECK(watch.steps > kSeries * 8);
    FakeWatch hasty;
    hasty.steps_max = kSeries * 4;
    samples.watch = &hasty;
    CHECK(samples.Ask(text, 0) == "too many steps");
    CHECK(hasty.steps < kSeries * 20);
  }
}

TEST_CASE("labels of a grouping are looked up, however many they are") {
  TextSamples samples;
  std::string labels, both;
  for (int i = 0; i < 5000; ++i) labels += "l" + std::to_string(i) + ",";
  for (int i = 0; i < 200; ++i) {
    samples.Load(0, 10, "a{b=\"1\",c=\"2\",d=\"3\",e=\"4\",host=\"" + std::to_string(i) + "\"}",
                 "1");
  }
  CHECK(CpuSecondsOf([&] {
          CHECK(samples.Ask("sum by (" + labels + ") (a)", 0) == "{} 200");
          CHECK(samples.Ask("sum without (host," + labels + ") (a)", 0) ==
                "{b=\"1\", c=\"2\", d=\"3\", e=\"4\"} 200");
        }) < 1);
}

}  // namespace hg::query::promql
