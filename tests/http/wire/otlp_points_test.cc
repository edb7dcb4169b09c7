#include "http/wire/otlp_points.h"

#include <doctest/doctest.h>
#include <otlp.pb.h>

#include <limits>

#include "http/wire/otlp_attribute.h"
#include "http/wire/protobuf_message.h"
#include "storage/model/special_double.h"
#include "tests/support/cpu_time.h"

namespace hg::http {
namespace {

/// Records the calls, one item per line: "metric{a=b} time=value; …", or the reason of a refusal.
class ToldPoints : public LabelledSink {
 public:
  std::vector<std::string> items;

  void SetSeries(std::string_view metric, std::span<const Label> labels) override {
    series_ = std::string(metric) + "{";
    for (const Label& label : labels) {
      series_ += series_.back() == '{' ? "" : ",";
      series_.append(label.name).append("=").append(label.value);
    }
    series_ += "}";
  }
  bool BeginItem() override {
    items.emplace_back();
    return true;
  }
  void Add(int64_t time_ms, PointValue value) override {
    const std::string text = value == StoredNan(kStaleMarkerBits) ? "stale"
                             : value.is_float() ? NumberText(value.as_double()) + "f"
                                                : std::to_string(value.as_int());
    items.back() +=
        (items.back().empty() ? "" : "; ") + series_ + " " + std::to_string(time_ms) + "=" + text;
  }
  void Refuse(std::string_view reason) override {
    items.back() = series_ + " " + std::string(reason);
  }

 private:
  std::string series_;
};

using Items = std::vector<std::string>;

/// Parses the protocol's JSON form.
otlp::ExportMetricsServiceRequest RequestOf(std::string_view json) {
  otlp::ExportMetricsServiceRequest request;
  const Status parsed = ParseJsonMessage(json, &request, nullptr);
  REQUIRE_MESSAGE(parsed.ok(), parsed.message());
  return request;
}

/// Returns the items of a request. Protobuf's objects and in-place parsing must give the same ones.
Items ItemsOf(std::string_view json, const OtlpNaming& naming = {{"host"}}) {
  const otlp::ExportMetricsServiceRequest request = RequestOf(json);
  ToldPoints told, in_place;
  AddDataPoints(request, naming, &told);
  CHECK(AddDataPoints(request.SerializeAsString(), naming, &in_place, nullptr));
  CHECK(in_place.items == told.items);
  return told.items;
}

/// A request with one metric and the given data.
std::string Metric(const std::string& data) {
  return R"({"resourceMetrics":[{"resource":{"attributes":[
      {"key":"host","value":{"stringValue":"h"}},{"key":"pid","value":{"intValue":"7"}}]},
      "scopeMetrics":[{"scope":{"name":"lib","version":"2"},"metrics":[{"name":"m",)" +
         data + "}]}]}]}";
}

otlp::AnyValue Value(std::string_view json) {
  otlp::AnyValue value;
  const Status parsed = ParseJsonMessage(json, &value, nullptr);
  REQUIRE_MESSAGE(parsed.ok(), parsed.message());
  return value;
}

}  // namespace

TEST_CASE("numbers keep their type, and times are milliseconds") {
  CHECK(ItemsOf(Metric(R"("gauge":{"dataPoints":[
      {"timeUnixNano":"1700000000123999999","asDouble":1.5},
      {"timeUnixNano":"1700000000124000000","asInt":"-9007199254740993",
       "attributes":[{"key":"a","value":{"boolValue":true}}]}]})")) ==
        Items{"m{host=h} 1700000000123=1.5f", "m{a=true,host=h} 1700000000124=-9007199254740993"});
}

TEST_CASE("sums are stored unchanged, cumulative or delta") {
  for (const char* temporality : {"1", "2", "\"AGGREGATION_TEMPORALITY_DELTA\""}) {
    CHECK(ItemsOf(Metric(R"("sum":{"isMonotonic":true,"aggregationTemporality":)" +
                         std::string(temporality) +
                         R"(,"dataPoints":[{"timeUnixNano":"5000000","asInt":3}]})")) ==
          Items{"m{host=h} 5=3"});
  }
  CHECK(ItemsOf(Metric(R"("sum":{"dataPoints":[{"timeUnixNano":"5000000","asInt":3}]})")) ==
        Items{"m{host=h} has no aggregation temporality (expected delta or cumulative)"});
}

TEST_CASE(
    "a point flagged as without value is a stale marker, and one without the flag is refused") {
  CHECK(ItemsOf(Metric(R"("gauge":{"dataPoints":[{"timeUnixNano":"5000000","flags":1},
                          {"timeUnixNano":"5000000"}]})")) ==
        Items{"m{host=h} 5=stale",
              "m{host=h} has neither a value nor the flag that says that there is none"});
  CHECK(ItemsOf(Metric(R"("histogram":{"aggregationTemporality":2,"dataPoints":[
      {"timeUnixNano":"5000000","flags":1,"sum":0,"explicitBounds":[1],"bucketCounts":[0,0]}]})")) ==
        Items{"m_bucket{host=h,le=1} 5=stale; m_bucket{host=h,le=+Inf} 5=stale; "
              "m_sum{host=h} 5=stale; m_count{host=h} 5=stale"});
}

TEST_CASE("a histogram becomes cumulative buckets, a sum and a count") {
  CHECK(ItemsOf(Metric(R"("histogram":{"aggregationTemporality":2,"dataPoints":[
      {"timeUnixNano":"5000000","count":"10","sum":12.5,"bucketCounts":["1","2","3","4"],
       "explicitBounds":[0.005,1,1e6],"attributes":[{"key":"le","value":{"stringValue":"x"}}]},
      {"timeUnixNano":"6000000","count":"2"}]})")) ==
        Items{"m_bucket{host=h,le=0.005} 5=1; m_bucket{host=h,le=1} 5=3; "
              "m_bucket{host=h,le=1e+06} 5=6; m_bucket{host=h,le=+Inf} 5=10; "
              "m_sum{host=h,le=x} 5=12.5f; m_count{host=h,le=x} 5=10",
              "m_bucket{host=h,le=+Inf} 6=2; m_count{host=h} 6=2"});
}

TEST_CASE("a histogram with inconsistent buckets is refused") {
  const auto first = [](const std::string& point) {
    return ItemsOf(
               Metric(R"("histogram":{"aggregationTemporality":2,"dataPoints":[{)" + point + "}]}"))
        .front();
  };
  CHECK(first(R"("bucketCounts":["1","2"],"explicitBounds":[1,2])") ==
        "m{host=h} has 2 buckets and 2 bounds");
  CHECK(first(R"("bucketCounts":["1","2","3"],"explicitBounds":[2,2])") ==
        "m{host=h} has bounds that are not in ascending order");
  CHECK(first(R"("bucketCounts":["18446744073709551615","5","1"],"explicitBounds":[1,2])") ==
        "m{host=h} has buckets with more than 18446744073709551615 values in total");
  CHECK(first(R"("bucketCounts":["1","2"],"explicitBounds":["Infinity"],"count":"3")") ==
        "m_bucket{host=h,le=+Inf} 0=3; m_count{host=h} 0=3");
}

TEST_CASE("a summary becomes quantiles, a sum and a count") {
  CHECK(ItemsOf(Metric(R"("summary":{"dataPoints":[{"timeUnixNano":"5000000","count":"4","sum":2,
      "quantileValues":[{"quantile":0.5,"value":0.25},{"quantile":1,"value":9}]}]})")) ==
        Items{"m{host=h,quantile=0.5} 5=0.25f; m{host=h,quantile=1} 5=9f; "
              "m_sum{host=h} 5=2f; m_count{host=h} 5=4"});
}

TEST_CASE("each point of an exponential histogram is refused") {
  const Items items = ItemsOf(Metric(R"("exponentialHistogram":{"aggregationTemporality":2,
      "dataPoints":[{"scale":3,"attributes":[{"key":"a","value":{"stringValue":"b"}}]},{}]})"));
  REQUIRE(items.size() == 2);
  CHECK(items[0].starts_with("m{a=b,host=h} exponential histograms cannot be stored"));
}

TEST_CASE("resource attributes and scope names become labels if the settings name them") {
  const std::string request = R"({"resourceMetrics":[{"resource":{"attributes":[
      {"key":"host","value":{"stringValue":"h"}},{"key":"pid","value":{"intValue":"7"}},
      {"key":"shared","value":{"stringValue":"resource"}}]},
      "scopeMetrics":[{"scope":{"name":"lib","version":"2","attributes":[
        {"key":"kind","value":{"stringValue":"k"}},{"key":"shared","value":{"stringValue":"scope"}}]},
        "metrics":[{"name":"m","gauge":{"dataPoints":[{"asInt":1},
          {"asInt":2,"attributes":[{"key":"shared","value":{"stringValue":"point"}}]}]}}]},
       {"metrics":[{"name":"n","gauge":{"dataPoints":[{"asInt":3}]}},{"name":"empty"}]}]}]})";
  CHECK(ItemsOf(request, {{}}) ==
        Items{"m{kind=k,shared=scope} 0=1", "m{kind=k,shared=point} 0=2", "n{} 0=3"});
  CHECK(ItemsOf(request, {{"pid", "otel.scope.name"}}) ==
        Items{"m{kind=k,otel.scope.name=lib,pid=7,shared=scope} 0=1",
              "m{kind=k,otel.scope.name=lib,pid=7,shared=point} 0=2",
              "n{otel.scope.name=,pid=7} 0=3"});
  CHECK(ItemsOf(request, {{"*"}}).front() ==
        "m{host=h,kind=k,otel.scope.name=lib,otel.scope.version=2,pid=7,shared=scope} 0=1");
}

TEST_CASE("a point with too many or too long attributes is refused, even if they are shared") {
  const auto request = [](size_t attributes, size_t bytes, const std::string& name) {
    std::string all =
        R"({"key":"long","value":{"stringValue":")" + std::string(bytes, 'x') + "\"}}";
    for (size_t i = 1; i < attributes; ++i)
      all += R"(,{"key":")" + std::to_string(i) + R"(","value":{"intValue":"1"}})";
    return R"({"resourceMetrics":[{"scopeMetrics":[{"scope":{"attributes":[)" + all +
           R"(]},"metrics":[{"name":")" + name +
           R"(","gauge":{"dataPoints":[{"asInt":1},{"asInt":2}]}}]},
           {"metrics":[{"name":"n","gauge":{"dataPoints":[{"asInt":3}]}}]}]}]})";
  };
  const std::string fault =
      "{} has more than 256 attributes, or its attributes and name have more than 32768 bytes";
  const std::string good(kOtlpSeriesBytesMax - 5, 'x');
  CHECK(ItemsOf(request(1, good.size(), "m")) ==
        Items{"m{long=" + good + "} 0=1", "m{long=" + good + "} 0=2", "n{} 0=3"});
  CHECK(ItemsOf(request(1, good.size() + 1, "m")).front().ends_with(fault.substr(2)));
  CHECK(ItemsOf(request(1, kOtlpSeriesBytesMax, "m")) == Items{"m" + fault, fault, "n{} 0=3"});
  CHECK(ItemsOf(request(kOtlpAttributesMax, 1, "m")).front().starts_with("m{1=1,10=1,"));
  CHECK(ItemsOf(request(kOtlpAttributesMax + 1, 1, "m")) == Items{"m" + fault, fault, "n{} 0=3"});
  const std::string name(kOtlpSeriesBytesMax + 1, 'x');
  const Items named = ItemsOf(request(1, 1, name));
  CHECK(named == Items{name + "{long=x}" + fault.substr(2), fault, "n{} 0=3"});
}

TEST_CASE("attributes of all kinds become texts") {
  const struct {
    const char* json;
    const char* text;
  } cases[] = {
      {R"({"stringValue":"a b"})", "a b"},
      {R"({"boolValue":false})", "false"},
      {R"({"intValue":"-9223372036854775808"})", "-9223372036854775808"},
      {R"({"doubleValue":0.1})", "0.1"},
      {R"({"doubleValue":1e300})", "1e+300"},
      {R"({"doubleValue":"NaN"})", "NaN"},
      {R"({"bytesValue":""})", ""},
      {R"({"bytesValue":"AA=="})", "AA=="},
      {R"({"bytesValue":"AAH/"})", "AAH/"},
      {R"({"bytesValue":"AAH/gA=="})", "AAH/gA=="},
      {R"({"bytesValue":"AAH/gIE="})", "AAH/gIE="},
      {R"({})", ""},
      {R"({"arrayValue":{"values":[{"intValue":1},{"stringValue":"x\"y"},{},{"doubleValue":"Infinity"}]}})",
       R"([1,"x\"y",null,"+Inf"])"},
      {R"({"kvlistValue":{"values":[{"key":"k","value":{"arrayValue":{}}},
          {"key":"b","value":{"bytesValue":"AA=="}}]}})",
       R"({"k":[],"b":"AA=="})"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.json);
    CHECK(AttributeText(Value(c.json)) == c.text);
  }
}

TEST_CASE("points without their own attributes do not copy the shared ones") {
  otlp::ExportMetricsServiceRequest request;
  otlp::ScopeMetrics& scope = *request.add_resource_metrics()->add_scope_metrics();
  for (int i = 0; i < 120; ++i) {
    otlp::KeyValue& attribute = *scope.mutable_scope()->add_attributes();
    attribute.set_key("key" + std::to_string(i));
    attribute.mutable_value()->set_string_value(std::string(200, 'x'));
  }
  otlp::Metric& metric = *scope.add_metrics();
  metric.set_name("m");
  metric.mutable_histogram()->set_aggregation_temporality(otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
  constexpr size_t kPoints = 50'000;
  for (size_t i = 0; i < kPoints; ++i) metric.mutable_histogram()->add_data_points();
  // Only counts the calls.
  struct Counting : LabelledSink {
    size_t items = 0, points = 0, labels = 0;
    void SetSeries(std::string_view, std::span<const Label> of) override { labels = of.size(); }
    bool BeginItem() override {
      ++items;
      return true;
    }
    void Add(int64_t, PointValue) override { ++points; }
    void Refuse(std::string_view) override {}
  };
  Counting counting;
  CHECK(CpuSecondsOf([&] { AddDataPoints(request, {{"host"}}, &counting); }) < 0.5);
  CHECK(counting.items == kPoints);
  CHECK(counting.points == 2 * kPoints);
  CHECK(counting.labels == 120);
}

TEST_CASE("the points after the end of the request are not read") {
  otlp::ExportMetricsServiceRequest request;
  otlp::ScopeMetrics& scope = *request.add_resource_metrics()->add_scope_metrics();
  for (int i = 0; i < 3; ++i) {
    otlp::Metric& metric = *scope.add_metrics();
    metric.set_name("m");
    otlp::Histogram& histogram = *metric.mutable_histogram();
    histogram.set_aggregation_temporality(otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
    for (int j = 0; j < 10; ++j) histogram.add_data_points()->add_attributes()->set_key("a");
    otlp::Metric& exponential = *scope.add_metrics();
    exponential.mutable_exponential_histogram()->add_data_points();
  }
  // The request ends with the fifth item.
  struct Ending : LabelledSink {
    size_t items = 0, calls = 0;
    void SetSeries(std::string_view, std::span<const Label>) override { ++calls; }
    bool BeginItem() override { return ++items < 5; }
    void Add(int64_t, PointValue) override { ++calls; }
    void Refuse(std::string_view) override { ++calls; }
  };
  Ending ending;
  AddDataPoints(request, {}, &ending);
  CHECK(ending.items == 5);
  CHECK(ending.calls == 4 * 4);  // two series for each of four points, with a point each
  Ending body;
  CHECK(AddDataPoints(request.SerializeAsString(), {}, &body, nullptr));
  CHECK(body.items == 5);
}

TEST_CASE("points with and without their own attributes may alternate") {
  CHECK(ItemsOf(Metric(R"("histogram":{"aggregationTemporality":2,"dataPoints":[
      {"timeUnixNano":"1000000"},
      {"timeUnixNano":"2000000","attributes":[{"key":"a","value":{"stringValue":"x"}}]},
      {"timeUnixNano":"3000000"},
      {"timeUnixNano":"4000000","attributes":[{"key":"le","value":{"stringValue":"x"}}]},
      {"timeUnixNano":"5000000"}]})")) ==
        Items{"m_bucket{host=h,le=+Inf} 1=0; m_count{host=h} 1=0",
              "m_bucket{a=x,host=h,le=+Inf} 2=0; m_count{a=x,host=h} 2=0",
              "m_bucket{host=h,le=+Inf} 3=0; m_count{host=h} 3=0",
              "m_bucket{host=h,le=+Inf} 4=0; m_count{host=h,le=x} 4=0",
              "m_bucket{host=h,le=+Inf} 5=0; m_count{host=h} 5=0"});
}

}  // namespace hg::http
