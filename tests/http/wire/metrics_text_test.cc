#include "http/wire/metrics_text.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

TEST_CASE("a metric family has a help, a type and samples") {
  std::string out;
  MetricsText text(&out);
  text.Family("hourglass_a_total", MetricType::kCounter, "What a is.");
  text.Sample({}, int64_t{-7});
  text.Sample({{"kind", "x"}, {"host", "y"}}, int64_t{8});
  text.Family("hourglass_b_seconds", MetricType::kHistogram, "b");
  text.Sample({{"le", "+Inf"}}, int64_t{1}, "_bucket");
  text.Sample({}, 0.25, "_sum");
  CHECK(out ==
        "# HELP hourglass_a_total What a is.\n"
        "# TYPE hourglass_a_total counter\n"
        "hourglass_a_total -7\n"
        "hourglass_a_total{kind=\"x\",host=\"y\"} 8\n"
        "# HELP hourglass_b_seconds b\n"
        "# TYPE hourglass_b_seconds histogram\n"
        "hourglass_b_seconds_bucket{le=\"+Inf\"} 1\n"
        "hourglass_b_seconds_sum 0.25\n");
}

TEST_CASE("no label or help text can end its line or its quotes") {
  std::string out;
  MetricsText text(&out);
  text.Family("a", MetricType::kGauge, "one\ntwo \\ \"three\"");
  text.Sample({{"l", "one\ntwo \\ \"three\""}}, int64_t{0});
  CHECK(out ==
        "# HELP a one\\ntwo \\\\ \"three\"\n"
        "# TYPE a gauge\n"
        "a{l=\"one\\ntwo \\\\ \\\"three\\\"\"} 0\n");
}

TEST_CASE(
    "a histogram has a bucket for each bound, a bucket for all values, the sum and the count") {
  std::string out;
  MetricsText text(&out);
  Latency latency;
  latency.Record(std::chrono::microseconds(200));
  latency.Record(std::chrono::minutes(2));
  text.Family("a_seconds", MetricType::kHistogram, "a");
  text.Histogram({{"method", "put"}}, latency.Histogram());
  const auto has = [&out](const std::string& line) {
    return out.find("\n" + line + "\n") != std::string::npos;
  };
  CHECK(has("# TYPE a_seconds histogram"));
  CHECK(has("a_seconds_bucket{method=\"put\",le=\"0.0001\"} 0"));
  CHECK(has("a_seconds_bucket{method=\"put\",le=\"0.00025\"} 1"));
  CHECK(has("a_seconds_bucket{method=\"put\",le=\"1\"} 1"));
  CHECK(has("a_seconds_bucket{method=\"put\",le=\"60\"} 1"));
  CHECK(
      out.ends_with("\na_seconds_bucket{method=\"put\",le=\"+Inf\"} 2\n"
                    "a_seconds_sum{method=\"put\"} 120.0002\n"
                    "a_seconds_count{method=\"put\"} 2\n"));
}

TEST_CASE("any text is converted to a valid metric name") {
  CHECK(MetricName("hourglass.uid.cache-hit") == "hourglass_uid_cache_hit");
  CHECK(MetricName("95pct") == "_95pct");
  CHECK(MetricName("\xC3\xA9t\xC3\xA9") == "__t__");
}

}  // namespace
}  // namespace hg::http
