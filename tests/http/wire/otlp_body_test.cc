#include "http/wire/otlp_body.h"

#include <doctest/doctest.h>
#include <otlp.pb.h>

#include "http/wire/otlp_points.h"
#include "http/wire/protobuf_message.h"

namespace hg::http {
namespace {

/// Records all calls as one text.
class Told : public LabelledSink {
 public:
  std::string text;

  void SetSeries(std::string_view metric, std::span<const Label> labels) override {
    text.append(metric).append("{");
    for (const Label& label : labels)
      text.append(label.name).append("=").append(label.value).append(",");
  }
  bool BeginItem() override {
    text += "\n";
    return true;
  }
  void Add(int64_t time_ms, PointValue value) override {
    text += "}" + std::to_string(time_ms) + "=" + std::to_string(value.bits) + "/" +
            std::to_string(value.flags);
  }
  void Refuse(std::string_view reason) override { text.append("}").append(reason); }
};

void CheckBothWays(const std::string& body) {
  Told by_protobuf, in_place;
  otlp::ExportMetricsServiceRequest request;
  const bool good = ParseMessage(body, &request);
  if (good) AddDataPoints(request, {{"*"}}, &by_protobuf);
  // Prints only differences, because there are many bodies.
  if (AddDataPoints(body, {{"*"}}, &in_place, nullptr) != good) FAIL_CHECK(body);
  if (in_place.text != by_protobuf.text) FAIL_CHECK(body);
}

// Writes fields by hand, because encoders write fields only in order and only once.
std::string Sized(int field, const std::string& bytes) {
  REQUIRE(bytes.size() < 128);
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string Fixed(int field, char first) {
  return std::string{static_cast<char>(field << 3 | 1), first} + std::string(7, '\x10');
}
std::string Number(int field, char number) { return {static_cast<char>(field << 3), number}; }
std::string Attribute(const std::string& key, const std::string& value) {
  return Sized(7, Sized(1, key) + Sized(2, value));
}
std::string BodyBytes(const std::string& metric) { return Sized(1, Sized(2, Sized(2, metric))); }
std::string GaugeBytes(const std::string& point) {
  return BodyBytes(Sized(1, "m") + Sized(5, Sized(1, point)));
}

bool TakenInPlace(const std::string& body) {
  OtlpBody read(nullptr);
  if (!read.Read(body)) return false;
  for (const OtlpBody::Piece& piece : read.pieces())
    if (piece.kind == OtlpBody::Piece::Kind::kMetric) return false;
  return true;
}

const std::string kTimeBytes = Fixed(3, 1), kDouble = Fixed(4, 2);

/// A request with several resources and scopes, and with everything that a metric may have.
std::string LargeBody() {
  otlp::ExportMetricsServiceRequest request;
  const Status parsed = ParseJsonMessage(R"({"resourceMetrics":[
    {"resource":{"attributes":[{"key":"host","value":{"stringValue":"h"}},
      {"key":"args","value":{"arrayValue":{"values":[{"stringValue":"x"},{"intValue":1}]}}}]},
     "scopeMetrics":[{"scope":{"name":"lib","attributes":[{"key":"b","value":{"boolValue":true}}]},
       "metrics":[
        {"name":"m","gauge":{"dataPoints":[
          {"timeUnixNano":"1700000000000000000","asDouble":1.5,"attributes":[
            {"key":"c","value":{"stringValue":"é"}},{"key":"a","value":{"intValue":"-3"}},
            {"key":"b","value":{"doubleValue":0.5}},{"key":"a","value":{"stringValue":"4"}}]},
          {"timeUnixNano":"1700000001000000000","asInt":"-7","attributes":[
            {"key":"c","value":{"stringValue":"é"}},{"key":"a","value":{"intValue":"-3"}},
            {"key":"b","value":{"doubleValue":0.5}},{"key":"a","value":{"stringValue":"4"}}]},
          {"timeUnixNano":"1700000002000000000","asInt":"9"}]}},
        {"name":"s","sum":{"aggregationTemporality":2,"dataPoints":[
          {"timeUnixNano":"1700000000000000000","asInt":"1"}]}},
        {"name":"h","histogram":{"aggregationTemporality":1,"dataPoints":[
          {"timeUnixNano":"5000000","count":"3","bucketCounts":["1","2"],"explicitBounds":[1]}]}}]},
       {"metrics":[{"name":"n","gauge":{"dataPoints":[
          {"timeUnixNano":"1700000000000000000","asDouble":2}]}}]}]},
    {"scopeMetrics":[{"metrics":[
        {"name":"gone","gauge":{"dataPoints":[{"flags":1}]}},
        {"name":"q","summary":{"dataPoints":[{"count":"1","sum":2}]}}]}]}]})",
                                         &request, nullptr);
  REQUIRE_MESSAGE(parsed.ok(), parsed.message());
  return request.SerializeAsString();
}

}  // namespace

TEST_CASE("numbers with text and number attributes are parsed in place") {
  const std::string text = Sized(1, "v"), boolean = Number(2, 1), integer = Number(3, 7);
  const std::string body = GaugeBytes(Attribute("b", text) + Attribute("a", boolean) + kDouble +
                                      kTimeBytes + Number(8, 0));
  CHECK(TakenInPlace(body));
  CHECK(TakenInPlace(GaugeBytes(kTimeBytes + Fixed(6, 1) + Attribute("a", integer))));
  CHECK(TakenInPlace(GaugeBytes(Fixed(2, 1) + kTimeBytes + kDouble + Attribute("a", Fixed(4, 1)))));
  CHECK(TakenInPlace(
      BodyBytes(Sized(1, "m") + Sized(2, "\xFF") + Sized(3, "unit") +
                Sized(7, Sized(1, kTimeBytes + kDouble) + Number(2, 2) + Number(3, 1)))));
  CHECK(TakenInPlace(""));
  OtlpBody read(nullptr);
  REQUIRE(read.Read(body));
  REQUIRE(read.pieces().size() == 3);
  const OtlpBody::Piece& numbers = read.pieces()[2];
  CHECK(numbers.name == "m");
  REQUIRE(numbers.count == 1);
  const auto labels = read.Labels(read.AttributesOf(read.Numbers(numbers)[0]));
  CHECK(std::vector<Label>(labels.begin(), labels.end()) ==
        std::vector<Label>{{"a", "true"}, {"b", "v"}});
}

TEST_CASE("metrics that are not only numbers are left to protobuf, each on its own") {
  const std::string points[] = {
      kTimeBytes,                                           // no value
      kDouble,                                              // no time
      kTimeBytes + kDouble + Fixed(6, 1),                   // two values
      kTimeBytes + kTimeBytes + kDouble,                    // two times
      kTimeBytes + kDouble + Number(8, 1),                  // a flag that says that it has no value
      kTimeBytes + kDouble + Attribute("a", ""),            // an attribute without a value
      kTimeBytes + kDouble + Attribute("a", Sized(5, "")),  // a list
      kTimeBytes + kDouble + Attribute("a", Sized(1, "x") + Number(3, 1)),
      kTimeBytes + kDouble + Sized(7, Sized(2, Sized(1, "x")) + Sized(1, "a")),
      kTimeBytes + Attribute("a", Sized(1, "x")) + kDouble + Attribute("b", Sized(1, "y")),
  };
  for (const std::string& point : points) {
    CAPTURE(point);
    CHECK_FALSE(TakenInPlace(GaugeBytes(point)));
    CheckBothWays(GaugeBytes(point));
    CheckBothWays(GaugeBytes(point) + GaugeBytes(kTimeBytes + kDouble));
  }
  const std::string gauge = Sized(5, Sized(1, kTimeBytes + kDouble)),
                    sum = Sized(7, Sized(1, kTimeBytes + kDouble));
  for (const std::string& metric :
       {gauge, Sized(1, "") + gauge, Sized(1, "a") + Sized(1, "b") + gauge,
        Sized(1, "m") + gauge + gauge, Sized(1, "m") + sum, Sized(1, "m") + gauge + sum,
        Sized(1, "m") + Sized(9, "") + gauge, Sized(1, "m"),
        Sized(1, "m") + Sized(7, Sized(1, kTimeBytes + kDouble) + Number(2, 3))}) {
    CAPTURE(metric);
    CHECK_FALSE(TakenInPlace(BodyBytes(metric)));
    CheckBothWays(BodyBytes(metric));
  }
}

TEST_CASE("split or reordered messages are left to protobuf as a whole, or parsed equally") {
  const std::string metric = Sized(1, "m") + Sized(5, Sized(1, kTimeBytes + kDouble));
  const auto resource = [](const char* host) {
    return Sized(1, Sized(1, Sized(1, "host") + Sized(2, Sized(1, host))));
  };
  const std::string scope = Sized(2, Sized(1, Sized(1, "lib")) + Sized(2, metric));
  OtlpBody read(nullptr);
  CHECK(read.Read(Sized(1, resource("a") + scope)));
  CHECK_FALSE(read.Read(Sized(1, scope + resource("a"))));
  CHECK_FALSE(read.Read(Sized(1, resource("a") + resource("b") + scope)));
  CHECK_FALSE(read.Read(Sized(1, Sized(2, Sized(2, metric) + Sized(1, Sized(1, "lib"))))));
  for (const std::string& body :
       {Sized(1, resource("a") + scope), Sized(1, scope + resource("a")),
        Sized(1, resource("a") + resource("b") + scope), Sized(1, resource("a") + scope + scope),
        Sized(1, Sized(2, Sized(2, metric) + Sized(1, Sized(1, "lib")))),
        Sized(1, resource("a") + scope) + Sized(1, scope) + Sized(1, resource("b")),
        BodyBytes(Sized(5, Sized(1, kTimeBytes + kDouble)) + Sized(1, "m"))}) {
    CAPTURE(body);
    CheckBothWays(body);
  }
}

TEST_CASE("texts that are not UTF-8 make a request invalid, as with protobuf") {
  for (const char* text : {"\xFF", "12345678\xC3", "\xED\xA0\x80", "\xC0\x80"}) {
    CheckBothWays(GaugeBytes(kTimeBytes + kDouble + Attribute("a", Sized(1, text))));
    CheckBothWays(GaugeBytes(kTimeBytes + kDouble + Attribute(text, Sized(1, "a"))));
    CheckBothWays(BodyBytes(Sized(1, text) + Sized(5, Sized(1, kTimeBytes + kDouble))));
    Told told;
    CHECK_FALSE(AddDataPoints(GaugeBytes(kTimeBytes + kDouble + Attribute("a", Sized(1, text))),
                              {{}}, &told, nullptr));
    CHECK(told.text.empty());
  }
}

TEST_CASE("a truncated or damaged body gives the same result as protobuf, for every byte") {
  const std::string body = LargeBody();
  CheckBothWays(body);
  for (size_t at = 0; at < body.size(); ++at) {
    CheckBothWays(body.substr(0, at));
    for (const int change : {1, 2, 8, 0x80, 0xFF}) {
      std::string damaged = body;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      CheckBothWays(damaged);
    }
    CheckBothWays(body.substr(0, at) + body.substr(at + 1));
    CheckBothWays(body.substr(0, at) + std::string(1, '\0') + body.substr(at));
  }
}

TEST_CASE(
    "a message that is parsed by itself may be nested as deeply as protobuf allows in the "
    "whole body") {
  const auto nested = [](int lists) {
    otlp::ExportMetricsServiceRequest request;
    otlp::ResourceMetrics& of_resource = *request.add_resource_metrics();
    otlp::ScopeMetrics& of_scope = *of_resource.add_scope_metrics();
    for (otlp::KeyValue* attribute : {of_resource.mutable_resource()->add_attributes(),
                                      of_scope.mutable_scope()->add_attributes()}) {
      attribute->set_key("a");
      otlp::AnyValue* value = attribute->mutable_value();
      for (int i = 0; i < lists; ++i) value = value->mutable_array_value()->add_values();
    }
    otlp::Metric& metric = *of_scope.add_metrics();
    metric.set_name("m");
    otlp::NumberDataPoint& point = *metric.mutable_gauge()->add_data_points();
    point.set_time_unix_nano(5000000);
    point.set_as_int(1);
    return request.SerializeAsString();
  };
  int good = 0;
  for (int lists = 40; lists < 55; ++lists) {
    otlp::ExportMetricsServiceRequest request;
    good += ParseMessage(nested(lists), &request) ? 1 : 0;
    CheckBothWays(nested(lists));
  }
  CHECK(good > 0);
  CHECK(good < 15);
}

}  // namespace hg::http
