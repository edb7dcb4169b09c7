#include "http/wire/otlp_json.h"

#include <doctest/doctest.h>
#include <otlp.pb.h>

#include <string>

#include "http/wire/protobuf_message.h"
#include "http/wire/request_memory.h"

namespace hg::http {
namespace {

/// Returns whether OtlpJsonToProtobuf accepted the text. If it did, checks that protobuf's own
/// parser gives the same result.
bool Taken(const std::string& json) {
  std::string protobuf;
  if (!OtlpJsonToProtobuf(json, &protobuf, nullptr)) {
    if (!protobuf.empty()) FAIL_CHECK(json);
    return false;
  }
  otlp::ExportMetricsServiceRequest taken, expected;
  // Prints only differences, because there are many texts.
  if (!taken.ParseFromString(protobuf)) FAIL_CHECK(json);
  if (!ParseJsonMessage(json, &expected, nullptr).ok()) FAIL_CHECK(json);
  if (taken.SerializeAsString() != expected.SerializeAsString()) FAIL_CHECK(json);
  return true;
}

std::string BodyText(const std::string& metric) {
  return R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[)" + metric + "]}]}]}";
}
std::string GaugeText(const std::string& point) {
  return BodyText(R"({"name":"m","gauge":{"dataPoints":[{)" + point + "}]}}");
}
std::string Attribute(const std::string& value) {
  return GaugeText(R"("attributes":[{"key":"a","value":{)" + value + "}}]");
}

/// A request with everything that a request may have.
const std::string kLarge = R"({"resourceMetrics":[
    {"resource":{"droppedAttributesCount":0,"attributes":[{"key":"host","value":{"stringValue":"h"}},
      {"key":"args","value":{"arrayValue":{"values":[{"stringValue":"x"},{"intValue":1}]}}},
      {"key":"map","value":{"kvlistValue":{"values":[{"key":"k","value":{}}]}}}]},
     "schemaUrl":"x",
     "scopeMetrics":[{"scope":{"name":"lib","version":"1","attributes":[{"key":"b","value":{"boolValue":true}}]},
       "metrics":[
        {"name":"m","unit":"s","description":"","gauge":{"dataPoints":[
          {"startTimeUnixNano":"0","timeUnixNano":"1700000000000000000","asDouble":1.5,"flags":1,"exemplars":[{"a":[1]}],
           "attributes":[{"key":"c","value":{"stringValue":"é\n\u00e9"}},{"key":"a","value":{"intValue":"-3"}},
            {"key":"d","value":{"doubleValue":-0.25e-3}}]},
          {"timeUnixNano":1700000001000000000,"asInt":"-7"},
          {"timeUnixNano":"18446744073709551615","asInt":9}]}},
        {"name":"s","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"asInt":"1"}]}},
        {"name":"h","histogram":{"aggregationTemporality":"AGGREGATION_TEMPORALITY_DELTA","dataPoints":[
          {"timeUnixNano":"5000000","count":"3","sum":0,"bucketCounts":["1",2],"explicitBounds":[1,-2.5]}]}},
        {"name":"e","exponentialHistogram":{"dataPoints":[{"scale":1,"attributes":[]}]}},
        {"name":"q","summary":{"dataPoints":[{"count":"1","sum":2,"quantileValues":[{"quantile":0.5,"value":1e300}]}]}}]},
      {}]},
    {}]} )";

}  // namespace

TEST_CASE("requests in the form of exporters are parsed") {
  CHECK(Taken(kLarge));
  CHECK(Taken("{}"));
  CHECK(Taken(R"({"resourceMetrics":[]})"));
  // The resource after its scopes, and names with escapes.
  CHECK(Taken(R"({"resourceMetrics":[{"scopeMetrics":[{}],"resource":{}}]})"));
  CHECK(Taken(GaugeText("\"as\\u0049nt\":\"1\"")));
  for (const char* number :
       {"0", "-0", "1", "-1", "0.1", "1e3", "-0.0", "1.7976931348623157e308", "4.9e-324",
        "9007199254740992", "-9007199254740992", "12.345678901234567"}) {
    CAPTURE(number);
    CHECK(Taken(GaugeText(std::string("\"asDouble\":") + number)));
  }
}

TEST_CASE("JSON of other forms is left to protobuf") {
  const std::string deep = R"("arrayValue":{"values":[{)";
  std::string nested;
  for (int i = 0; i < 10; ++i) nested = deep + nested + "}]}";
  for (const std::string& json : {
           std::string(),
           std::string("[]"),
           std::string("{} {}"),
           std::string(R"({"resource_metrics":[]})"),
           std::string(R"({"resourceMetrics":{}})"),
           std::string(R"({"resourceMetrics":null})"),
           std::string(R"({"resourceMetrics":[null]})"),
           std::string(R"({"resourceMetrics":[],"resourceMetrics":[]})"),
           std::string(R"({"":1})"),
           GaugeText(R"("asDouble":"NaN")"),
           GaugeText(R"("asDouble":"1.5")"),
           GaugeText(R"("asDouble":9007199254740993)"),
           GaugeText(R"("asDouble":1e999)"),
           GaugeText(R"("asDouble":1,"asInt":"1")"),
           GaugeText(R"("asInt":1,"asInt":1)"),
           GaugeText(R"("asInt":1.0)"),
           GaugeText(R"("asInt":"1x")"),
           GaugeText(R"("asInt":" 1")"),
           GaugeText(R"("asInt":"9223372036854775808")"),
           GaugeText(R"("timeUnixNano":-1)"),
           GaugeText(R"("timeUnixNano":"18446744073709551616")"),
           GaugeText(R"("flags":4294967296)"),
           BodyText(R"({"name":1})"),
           BodyText(R"({"name":"a","gauge":{},"sum":{}})"),
           BodyText(R"({"sum":{"aggregationTemporality":7}})"),
           BodyText(R"({"sum":{"aggregationTemporality":"DELTA"}})"),
           Attribute(R"("bytesValue":"AQ==")"),
           Attribute(R"("boolValue":"true")"),
           Attribute("\"stringValue\":\"\xFF\""),
           Attribute(R"("stringValue":"\ud800")"),
           Attribute(nested),
       }) {
    CAPTURE(json);
    CHECK_FALSE(Taken(json));
  }
}

TEST_CASE("a truncated or damaged text gives the same result as protobuf, for every byte") {
  int taken = 0;
  for (size_t at = 0; at < kLarge.size(); ++at) {
    if (Taken(kLarge.substr(0, at)) && at + 1 < kLarge.size()) FAIL_CHECK(at);
    for (const char other : {'0', '-', '"', ',', '}', ' ', 'e'}) {
      std::string damaged = kLarge;
      damaged[at] = other;
      taken += Taken(damaged) ? 1 : 0;
    }
    taken += Taken(kLarge.substr(0, at) + kLarge.substr(at + 1)) ? 1 : 0;
  }
  CHECK(taken > 1000);
}

TEST_CASE("memory of a regular text is charged, and given back if protobuf must parse it") {
  const std::string regular = GaugeText(R"("asInt":1)"), other = GaugeText(R"("asInt":1.0)");
  std::string protobuf;
  RequestMemory memory(1 << 20);
  {
    RequestMemory::Share share(memory, 0);
    CHECK(OtlpJsonToProtobuf(regular, &protobuf, &share));
    CHECK(memory.taken() >= 4 * regular.size());
  }
  RequestMemory little(regular.size());
  {
    RequestMemory::Share share(little, 0);
    protobuf.clear();
    CHECK_FALSE(OtlpJsonToProtobuf(regular, &protobuf, &share));
    CHECK_FALSE(share.refusal().ok());
  }
  RequestMemory enough(2 * 12 * other.size());
  {
    RequestMemory::Share share(enough, 0);
    protobuf.clear();
    CHECK_FALSE(OtlpJsonToProtobuf(other, &protobuf, &share));
    otlp::ExportMetricsServiceRequest request;
    CHECK(ParseJsonMessage(other, &request, &share).ok());
    CHECK(share.refusal().ok());
  }
}

}  // namespace hg::http
