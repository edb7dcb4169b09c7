// Operators and aggregations.

#include <doctest/doctest.h>

#include "tests/query/promql/text_samples.h"
#include "tests/support/colliding_texts.h"
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

TEST_CASE("a comparison with group_right returns values of the left side under the right labels") {
  TextSamples samples = Machines();
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

TEST_CASE("topk refuses a number of series that is NaN or no 64-bit integer") {
  TextSamples samples = Machines();
  CHECK(samples.Ask("topk(NaN, cpu)", 0) == "Parameter value is NaN");
  CHECK(samples.Ask("topk(1e300, cpu{host=\"b\"})", 0).starts_with("Scalar value 1000"));
}

TEST_CASE("count_values needs the name of a label") {
  TextSamples samples = Machines();
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
  CHECK(seconds < 1);  // a quadratic search takes seconds
  CHECK(watch.steps > kSeries * 2);
  // A many side with samples is still refused, whichever series they belong to.
  CHECK(samples.Ask("a * on(host) group_left() {__name__=~\"a|b\"}", 0).find("found duplicate") ==
        0);
  CHECK(samples.Ask("(a > 1e18) * on(host) group_left() {__name__=~\"a|b\"}", 0).empty());
}

TEST_CASE("labels with equal values of std::hash are grouped as quickly as others") {
  FakeWatch watch;
  MemoryTally tally(&watch);
  SeriesNumbers numbers(&tally);
  // Labels::Key ends each name and each value with the byte FF.
  const std::vector<std::string> values = CollidingTexts(30'000, "machine\xFF", "\xFF");
  const double seconds = CpuSecondsOf([&] {
    for (const std::string& value : values) {
      Labels labels;
      labels.Set("machine", value);
      REQUIRE(numbers.Of(labels).ok());
    }
  });
  CHECK(numbers.size() == values.size());
  CHECK(seconds < 0.5);  // comparing all pairs takes seconds
}

TEST_CASE("groups, matches and the names of results are charged and counted as work") {
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

TEST_CASE("labels are looked up in a long list of a grouping, not compared with each entry") {
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
