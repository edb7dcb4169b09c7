// Errors and limits of PromQL functions. Their values are proved by cases.test, and by the files
// and the server of Prometheus in tests/compat/promql.

#include <doctest/doctest.h>

#include "tests/query/promql/text_samples.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {

TEST_CASE("equal values have no slope, and smoothed values follow a line") {
  TextSamples samples;
  samples.Load(0, 10, "flat", "7 7 7");
  CHECK(samples.Ask("deriv(flat[1m])", 20) == "{} 0");
  CHECK(samples.Ask("predict_linear(flat[1m], 5)", 20) == "{} 7");
  samples.Load(0, 10, "m", "0+20x10");
  CHECK(samples.Ask("holt_winters(m[1m], 0.5, 0.5)", 60) == "{} 120");
  CHECK(samples.Ask("holt_winters(m[1m], 1, 0.5)", 60) ==
        "the smoothing factors must be between 0 and 1, not 1.000000");
}

TEST_CASE("series that become equal without the metric name are refused") {
  TextSamples samples;
  samples.Load(0, 10, "a{x=\"1\"}", "1");
  samples.Load(0, 10, "b{x=\"1\"}", "2");
  const std::string refused = "vector cannot contain metrics with the same labelset: {x=\"1\"}";
  for (const char* text :
       {"abs({x=\"1\"})", "-{x=\"1\"}", "{x=\"1\"} + 1", "sum_over_time({x=\"1\"}[1m])",
        "label_replace({x=\"1\"}, \"__name__\", \"\", \"\", \"\")"}) {
    CAPTURE(text);
    CHECK(samples.Ask(text, 0) == refused);
  }
}

TEST_CASE("labels are replaced and joined") {
  TextSamples samples;
  samples.Load(0, 10, "m{host=\"web1.eu\",p=\"80\"}", "5");
  const auto ask = [&](const std::string& text) { return samples.Ask(text, 0); };
  CHECK(ask("label_replace(m, \"dc\", \"$2\", \"host\", \"(.*)[.](.*)\")") ==
        "m{dc=\"eu\", host=\"web1.eu\", p=\"80\"} 5");
  CHECK(ask("label_replace(m, \"dc\", \"x\", \"host\", \"web\")") ==
        "m{host=\"web1.eu\", p=\"80\"} 5");
  CHECK(ask("label_replace(m, \"host\", \"\", \"host\", \".*\")") == "m{p=\"80\"} 5");
  CHECK(ask("label_replace(m, \"new\", \"x\", \"gone\", \"\")") ==
        "m{host=\"web1.eu\", new=\"x\", p=\"80\"} 5");
  CHECK(ask("label_join(m, \"at\", \":\", \"host\", \"p\", \"gone\")") ==
        "m{at=\"web1.eu:80:\", host=\"web1.eu\", p=\"80\"} 5");
  CHECK(ask("label_join(m, \"host\", \"\")") == "m{p=\"80\"} 5");
  CHECK(ask("label_replace(m, \"\", \"x\", \"host\", \"\")") ==
        "label_replace: a label needs a name");
  CHECK(ask("label_replace(m, \"a\", \"x\", \"host\", \"(\")") ==
        "label_replace: the regular expression \"(\" is not valid: missing ): (");
}

TEST_CASE("the length of a label value is limited however often it is multiplied") {
  TextSamples samples;
  samples.Load(0, 10, "m{host=\"web1\"}", "5");
  const auto repeated = [](const std::string& text, size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += text;
    return out;
  };
  const auto replace = [&](const std::string& of, const std::string& from, size_t count) {
    return "label_replace(" + of + ", \"a\", \"" + repeated("$1", count) + "\", \"" + from +
           "\", \"(.*)\")";
  };
  const std::string longest = replace("m", "host", kLabelValueBytesMax / 4);
  CHECK(samples.Ask(longest, 0) ==
        "m{a=\"" + repeated("web1", kLabelValueBytesMax / 4) + "\", host=\"web1\"} 5");
  CHECK(samples.Ask(replace(replace("m", "host", 15000), "a", 2), 0) ==
        "label_replace: the value of \"a\": longer than 65536 bytes");
  CHECK(samples.Ask("label_join(" + longest + ", \"b\", \"\", \"a\")", 0).ends_with(" 5"));
  CHECK(samples.Ask("label_join(" + longest + ", \"b\", \"\", \"a\", \"host\")", 0) ==
        "label_join: the value of \"b\": longer than 65536 bytes");
}

TEST_CASE("steps are counted before memory is used for them, even without series") {
  constexpr size_t kSteps = 100'000;
  TextSamples samples;
  for (const char* const text : {"scalar(none)", "absent(none)", "absent_over_time(none[1m])"}) {
    CAPTURE(text);
    FakeWatch refusing;
    refusing.steps_max = 65'536;
    samples.watch = &refusing;
    CHECK(samples.AskRange(text, 0, 1, kSteps) == "too many steps");
    CHECK(refusing.steps <= kSteps + 1000);
    CHECK(refusing.bytes_most == 0);
    FakeWatch patient;
    samples.watch = &patient;
    (void)samples.AskRange(text, 0, 1, kSteps);
    CHECK(patient.steps >= 2 * kSteps);
  }
  FakeWatch watch;
  samples.watch = &watch;
  (void)samples.AskRange("scalar(none)", 0, 1, kSteps);
  CHECK(watch.bytes_most >= static_cast<int64_t>(17 * kSteps));
}

}  // namespace hg::query::promql
