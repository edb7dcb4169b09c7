// The results of PromQL functions.

#include <doctest/doctest.h>

#include "tests/query/promql/text_samples.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {

TEST_CASE("rates are extrapolated to the ends of the window, and not below a counter value of 0") {
  TextSamples samples;
  samples.Load(0, 10, "c", "0+10x10");
  CHECK(samples.Ask("rate(c[50s])", 50) == "{} 1");
  CHECK(samples.Ask("increase(c[50s])", 50) == "{} 50");
  CHECK(samples.Ask("increase(c[50s])", 55) == "{} 50");   // 5 s beyond both ends
  CHECK(samples.Ask("increase(c[100s])", 50) == "{} 50");  // not below 0
  CHECK(samples.Ask("delta(c[80s])", 40) == "{} 45");      // half an interval beyond
  CHECK(samples.Ask("rate(c[5s])", 55) == "");
  samples.Load(0, 10, "r", "0 10 20 5 15");
  CHECK(samples.Ask("increase(r[41s])", 40) == "{} 35");
  CHECK(samples.Ask("round(delta(r[41s]), 0.001)", 40) == "{} 15.375");
  CHECK(samples.Ask("resets(r[40s])", 40) == "{} 1");
  CHECK(samples.Ask("irate(r[40s])", 30) == "{} 0.5");
  CHECK(samples.Ask("idelta(r[40s])", 30) == "{} -15");
  CHECK(samples.Ask("changes(r[41s])", 40) == "{} 4");
}

TEST_CASE("windows are aggregated over time") {
  TextSamples samples;
  samples.Load(0, 10, "m{a=\"1\"}", "1 2 4 NaN 8");
  CHECK(samples.Ask("sum_over_time(m[21s])", 20) == "{a=\"1\"} 7");
  CHECK(samples.Ask("avg_over_time(m[11s])", 20) == "{a=\"1\"} 3");
  CHECK(samples.Ask("min_over_time(m[41s])", 40) == "{a=\"1\"} 1");
  CHECK(samples.Ask("max_over_time(m[10s])", 40) == "{a=\"1\"} 8");
  CHECK(samples.Ask("count_over_time(m[41s])", 40) == "{a=\"1\"} 5");
  CHECK(samples.Ask("last_over_time(m[20s])", 20) == "m{a=\"1\"} 4");
  CHECK(samples.Ask("present_over_time(m[20s])", 20) == "{a=\"1\"} 1");
  CHECK(samples.Ask("stdvar_over_time(m[11s])", 10) == "{a=\"1\"} 0.25");
  CHECK(samples.Ask("stddev_over_time(m[11s])", 10) == "{a=\"1\"} 0.5");
  CHECK(samples.Ask("quantile_over_time(0.5, m[11s])", 20) == "{a=\"1\"} 3");
  CHECK(samples.Ask("quantile_over_time(2, m[10s])", 20) == "{a=\"1\"} +Inf");
  CHECK(samples.AskRange("quantile_over_time(scalar(q), m[10s])", 20000, 1, 1) == "{a=\"1\"} NaN");
}

TEST_CASE("sums compensate rounding errors") {
  TextSamples samples;
  samples.Load(0, 10, "m", "1 1e100 1 -1e100");
  CHECK(samples.Ask("sum_over_time(m[1m])", 30) == "{} 2");
  samples.Load(0, 10, "big", "1e308 1e308");
  CHECK(samples.Ask("avg_over_time(big[1m])", 30) == "{} 1" + std::string(308, '0'));
  samples.Load(0, 10, "i", "Inf 1");
  CHECK(samples.Ask("sum_over_time(i[1m])", 30) == "{} +Inf");
  CHECK(samples.Ask("avg_over_time(i[1m])", 30) == "{} +Inf");
}

TEST_CASE("lines are fitted by least squares") {
  TextSamples samples;
  samples.Load(0, 10, "m", "0+20x10");
  CHECK(samples.Ask("deriv(m[1m])", 60) == "{} 2");
  CHECK(samples.Ask("predict_linear(m[1m], 100)", 60) == "{} 320");
  CHECK(samples.Ask("predict_linear(m[1m] offset 30s, 100)", 60) == "{} 320");
  samples.Load(0, 10, "flat", "7 7 7");
  CHECK(samples.Ask("deriv(flat[1m])", 20) == "{} 0");
  CHECK(samples.Ask("predict_linear(flat[1m], 5)", 20) == "{} 7");
  CHECK(samples.Ask("holt_winters(m[1m], 0.5, 0.5)", 60) == "{} 120");
  CHECK(samples.Ask("holt_winters(m[1m], 1, 0.5)", 60) ==
        "the smoothing factors must be between 0 and 1, not 1.000000");
}

TEST_CASE("functions of numbers drop the name") {
  TextSamples samples;
  samples.Load(0, 10, "m{a=\"1\"}", "-2.5");
  const std::pair<const char*, const char*> cases[] = {
      {"abs(m)", "2.5"},
      {"ceil(m)", "-2"},
      {"floor(m)", "-3"},
      {"round(m)", "-2"},
      {"round(m, 0.2)", "-2.4"},
      {"sgn(m)", "-1"},
      {"sqrt(m * m)", "2.5"},
      {"clamp(m, -2, 2)", "-2"},
      {"clamp_max(m, -3)", "-3"},
      {"clamp_min(m, -1)", "-1"},
      {"clamp_min(m, NaN)", "NaN"},
      {"exp(m - m)", "1"},
      {"ln(m - m)", "-Inf"},
      {"log2(m * 0 + 8)", "3"},
      {"log10(m * 0 + 1000)", "3"},
      {"ln(m)", "NaN"},
      {"deg(m * 0)", "-0"},
      {"-m", "2.5"},
  };
  for (const auto& [text, value] : cases) {
    CAPTURE(text);
    CHECK(samples.Ask(text, 0) == "{a=\"1\"} " + std::string(value));
  }
  CHECK(samples.Ask("clamp(m, 2, -2)", 0) == "");
  CHECK(samples.Ask("+m", 0) == "m{a=\"1\"} -2.5");
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

TEST_CASE("scalars and vectors are converted") {
  TextSamples samples;
  samples.Load(0, 10, "m{a=\"1\"}", "5");
  samples.Load(0, 10, "m{a=\"2\"}", "6");
  CHECK(samples.Ask("scalar(m{a=\"1\"})", 0) == "5");
  CHECK(samples.Ask("scalar(m)", 0) == "NaN");
  CHECK(samples.Ask("scalar(n)", 0) == "NaN");
  CHECK(samples.Ask("vector(3)", 0) == "{} 3");
  CHECK(samples.AskRange("time()", 1500, 1000, 3) == "1.5 2.5 3.5");
  CHECK(samples.AskRange("vector(time())", 1000, 1000, 2) == "{} 1 2");
  CHECK(samples.Ask("pi()", 0) == "3.141592653589793");
  CHECK(samples.Ask("\"text\"", 0) == "text");
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

TEST_CASE("the minimum and maximum of a window are NaN only if all values are") {
  TextSamples samples;
  samples.Load(0, 10, "m", "NaN NaN 3 NaN 1 5 NaN");
  CHECK(samples.Ask("min_over_time(m[1m])", 60) == "{} 1");
  CHECK(samples.Ask("max_over_time(m[1m])", 60) == "{} 5");
  CHECK(samples.Ask("max_over_time(m[10s])", 10) == "{} NaN");
  CHECK(samples.Ask("min_over_time(m[10s])", 20) == "{} 3");
}

TEST_CASE("sorting orders the result of a single instant, with NaN last") {
  TextSamples samples;
  samples.Load(0, 10, "m{a=\"1\"}", "5");
  samples.Load(0, 10, "m{a=\"2\"}", "NaN");
  samples.Load(0, 10, "m{a=\"3\"}", "3");
  CHECK(samples.Ask("sort(m)", 0) == "m{a=\"3\"} 3; m{a=\"1\"} 5; m{a=\"2\"} NaN");
  CHECK(samples.Ask("sort_desc(m)", 0) == "m{a=\"1\"} 5; m{a=\"3\"} 3; m{a=\"2\"} NaN");
}

TEST_CASE("date functions return parts of a time in UTC") {
  TextSamples samples;
  const std::string leap_day = "vector(1709210096)";  // 2024-02-29T12:34:56Z, a Thursday
  const std::pair<const char*, const char*> cases[] = {
      {"year", "2024"},      {"month", "2"}, {"day_of_month", "29"}, {"day_of_week", "4"},
      {"day_of_year", "60"}, {"hour", "12"}, {"minute", "34"},       {"days_in_month", "29"},
  };
  for (const auto& [name, value] : cases) {
    CAPTURE(name);
    CHECK(samples.Ask(std::string(name) + "(" + leap_day + ")", 0) == "{} " + std::string(value));
  }
  CHECK(samples.Ask("year()", 0) == "{} 1970");
  CHECK(samples.Ask("day_of_week()", 0) == "{} 4");
  CHECK(samples.Ask("hour(vector(-1))", 0) == "{} 23");
  CHECK(samples.Ask("year(vector(-1))", 0) == "{} 1969");
  CHECK(samples.Ask("days_in_month(vector(-5000000000))", 0) == "{} 31");
  CHECK(samples.AskRange("minute()", 0, 60000, 3) == "{} 0 1 2");
}

TEST_CASE("a quantile of a histogram is interpolated within its bucket") {
  TextSamples samples;
  for (const auto& [le, value] : std::vector<std::pair<std::string, std::string>>{
           {"0.1", "5"}, {"0.5", "10"}, {"1", "20"}, {"+Inf", "20"}}) {
    samples.Load(0, 10, "h{job=\"a\",le=\"" + le + "\"}", value);
  }
  CHECK(samples.Ask("histogram_quantile(0.5, h)", 0) == "{job=\"a\"} 0.5");
  CHECK(samples.Ask("histogram_quantile(0.75, h)", 0) == "{job=\"a\"} 0.75");
  CHECK(samples.Ask("histogram_quantile(0.125, h)", 0) == "{job=\"a\"} 0.05");
  CHECK(samples.Ask("histogram_quantile(1, h)", 0) == "{job=\"a\"} 1");
  CHECK(samples.Ask("histogram_quantile(-1, h)", 0) == "{job=\"a\"} -Inf");
  CHECK(samples.Ask("histogram_quantile(0.5, h{le!=\"+Inf\"})", 0) == "{job=\"a\"} NaN");
  CHECK(samples.Ask("histogram_quantile(0.5, h{le=\"+Inf\"})", 0) == "{job=\"a\"} NaN");
  samples.Load(0, 10, "broken{le=\"1\"}", "5");
  samples.Load(0, 10, "broken{le=\"2\"}", "3");  // decreasing: 5 is used instead
  samples.Load(0, 10, "broken{le=\"+Inf\"}", "10");
  samples.Load(0, 10, "broken{le=\"x\"}", "10");  // not a bucket
  CHECK(samples.Ask("histogram_quantile(0.5, broken)", 0) == "{} 1");
  CHECK(samples.Ask("histogram_quantile(0.9, broken)", 0) == "{} 2");
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
