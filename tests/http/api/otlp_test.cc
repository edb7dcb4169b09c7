#include <doctest/doctest.h>
#include <otlp.pb.h>

#include <utility>

#include "http/intake/labelled_points.h"
#include "http/wire/protobuf_message.h"
#include "tests/http/post_with.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::http {
namespace {

const Headers kJson = {{"content-type", "application/json"}};
const Headers kProtobuf = {{"content-type", "application/x-protobuf"}};

/// Returns a gauge with `tags` tags and a valid time.
std::string Gauge(const std::string& value, int tags = 1) {
  std::string attributes;
  for (int i = 0; i < tags; ++i) {
    attributes += std::string(i > 0 ? "," : "") + R"({"key":"k)" + std::to_string(i) +
                  R"(","value":{"stringValue":"v"}})";
  }
  return R"({"timeUnixNano":"1700000000123000000",)" + value + R"(,"attributes":[)" + attributes +
         "]}";
}

std::string RequestText(const std::string& points, const std::string& metric = "m.n") {
  return R"({"resourceMetrics":[{"resource":{"attributes":[
      {"key":"service.name","value":{"stringValue":"shop:1"}},
      {"key":"process.pid","value":{"intValue":"7"}}]},
      "scopeMetrics":[{"metrics":[{"name":")" +
         metric + R"(","gauge":{"dataPoints":[)" + points + "]}}]}]}]}";
}

struct OnePointASecond : EdgeFixture {
  OnePointASecond() : EdgeFixture(AllAutomatic(), {.points_per_s = 1, .series_max = 0}) {}
};

std::string AsProtobuf(const std::string& json) {
  otlp::ExportMetricsServiceRequest request;
  REQUIRE(ParseJsonMessage(json, &request, nullptr).ok());
  return request.SerializeAsString();
}

}  // namespace

TEST_CASE_FIXTURE(EdgeFixture,
                  "data points are stored under their attributes, as JSON or protobuf") {
  const std::string body = RequestText(Gauge(R"("asInt":"5")"));
  BufferResponse reply = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(reply.status == 200);
  CHECK(reply.content_type == "application/json");
  CHECK(reply.body == "{}");
  const auto cells = Cells();
  CHECK(cells == std::vector<std::string>{"0000016553ede0000001000001000002000002 f30d5ec0 05"});
  CHECK(*names.NameOf(UidKind::kMetric, Bytes("\0\0\1", 3)) == "m.n");
  CHECK(*names.NameOf(UidKind::kTagk, Bytes("\0\0\1", 3)) == "service.name");
  CHECK(*names.NameOf(UidKind::kTagk, Bytes("\0\0\2", 3)) == "k0");
  CHECK(*names.NameOf(UidKind::kTagv, Bytes("\0\0\1", 3)) == "shop_x003A_1");

  EdgeFixture other;
  reply = PostWith(other, kProtobuf, "/v1/metrics", AsProtobuf(body));
  CHECK(reply.status == 200);
  CHECK(reply.content_type == "application/x-protobuf");
  CHECK(reply.body.empty());
  CHECK(other.Cells() == cells);
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "data points that cannot be stored are reported, and the others are stored") {
  const std::string body =
      RequestText(Gauge(R"("asDouble":1.5)") + "," + Gauge(R"("asInt":1)", 40) + "," +
                  Gauge(R"("asDouble":"Infinity")") + "," + Gauge(R"("asDouble":"NaN")"));
  BufferResponse reply = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(reply.status == 200);
  CHECK(reply.body.find(R"("rejectedDataPoints":"1")") != std::string::npos);
  CHECK(reply.body.find("the first: m.n{") != std::string::npos);
  CHECK(reply.body.find("tsd.ingest.max_tags") != std::string::npos);
  CHECK(Cells().size() == 1);  // NaN was written last at this instant
  reply = PostWith(*this, kProtobuf, "/v1/metrics", AsProtobuf(body));
  CHECK(reply.status == 200);
  otlp::ExportMetricsServiceResponse answer;
  REQUIRE(ParseMessage(reply.body, &answer));
  CHECK(answer.partial_success().rejected_data_points() == 1);
}

TEST_CASE_FIXTURE(EdgeFixture, "a histogram that is refused counts as one point") {
  const std::string body = R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"",
      "histogram":{"aggregationTemporality":2,"dataPoints":[
        {"timeUnixNano":"1700000000000000000","count":"3","bucketCounts":["1","2"],
         "explicitBounds":[1]}]}}]}]}]})";
  const BufferResponse reply = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(reply.body.find(R"("rejectedDataPoints":"1")") != std::string::npos);
  CHECK(Cells().empty());
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "resource attributes that distinguish processes and machines become tags") {
  REQUIRE(PostWith(*this, kJson, "/v1/metrics", RequestText(Gauge(R"("asInt":5)"))).status == 200);
  CHECK(names.Find(UidKind::kTagk, "service.name").ok());
  CHECK_FALSE(names.Find(UidKind::kTagk, "process.pid").ok());
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "points of large series are stored in parts, before all of them are collected") {
  constexpr int kPoints = 600;
  otlp::ExportMetricsServiceRequest request;
  auto& scope = *request.add_resource_metrics()->add_scope_metrics();
  otlp::KeyValue& attribute = *scope.mutable_scope()->add_attributes();
  attribute.set_key("long");
  attribute.mutable_value()->set_string_value(std::string(30 << 10, 'x'));
  otlp::Metric& metric = *scope.add_metrics();
  metric.set_name("m");
  for (uint64_t i = 0; i < kPoints; ++i) {
    otlp::NumberDataPoint& point = *metric.mutable_gauge()->add_data_points();
    point.set_time_unix_nano((1700000000 + i) * 1000000000);
    point.set_as_int(1);
  }
  const BufferResponse reply =
      PostWith(*this, kProtobuf, "/v1/metrics", request.SerializeAsString());
  CHECK(reply.status == 200);
  CHECK(reply.body.empty());
  CHECK(Cells().size() == kPoints);
  CHECK(points.appends.load() == 18);  // at most 1 MiB each
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "a store that refuses writes gives 503 in the format of the protocol") {
  const std::string body = RequestText(Gauge(R"("asInt":5)"));
  points.RefuseAppends(2);
  BufferResponse reply = PostWith(*this, kProtobuf, "/v1/metrics", AsProtobuf(body));
  CHECK(reply.status == 503);
  CHECK(reply.Header("Retry-After") != nullptr);
  otlp::Status status;
  REQUIRE(ParseMessage(reply.body, &status));
  CHECK(status.code() == 14);
  reply = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(reply.status == 503);
  CHECK(reply.body == R"({"code":14,"message":"the memory for new points is full"})");
  CHECK(PostWith(*this, kJson, "/v1/metrics", body).status == 200);
}

TEST_CASE_FIXTURE(
    OnePointASecond,
    "a metric over its rate gives 429 in the format of the protocol, so that clients retry") {
  const std::string body = RequestText(Gauge(R"("asInt":1)") + "," + Gauge(R"("asInt":2)", 2) +
                                       "," + Gauge(R"("asInt":3)", 3));
  CHECK(PostWith(*this, kJson, "/v1/metrics", body).status == 200);
  const BufferResponse refused = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(refused.status == 429);
  REQUIRE(refused.Header("Retry-After") != nullptr);
  CHECK(refused.body.find(R"("code":8)") != std::string::npos);
  CHECK(refused.body.find("takes no more than 1 points a second") != std::string::npos);
}

TEST_CASE_FIXTURE(EdgeFixture, "invalid bodies are refused in the format of the protocol") {
  otlp::Status status;
  BufferResponse reply = PostWith(*this, kProtobuf, "/v1/metrics", "\xFF");
  CHECK(reply.status == 400);
  REQUIRE(ParseMessage(reply.body, &status));
  CHECK(status.code() == 3);
  for (const char* body : {"{", "[]", "", "{\"resourceMetrics\":5}", "\xFF"}) {
    reply = PostWith(*this, kJson, "/v1/metrics", body);
    CHECK(reply.status == 400);
    CHECK(reply.body.starts_with(R"({"code":3,"message":"The body is not)"));
  }
  CHECK(PostWith(*this, {{"content-type", "text/plain"}}, "/v1/metrics", "{}").status == 415);
  CHECK(Post("/v1/metrics", "{}").status == 415);
  CHECK(PostWith(*this, kJson, "/v1/metrics", std::string((16 << 20) + 1, ' ')).status == 413);
  CHECK(PostWith(*this, kJson, "/v1/metrics", R"({"unknown":[1]})").status == 200);
  // JSON that only protobuf's own parser reads has a lower limit.
  const std::string blanks(4 << 20, ' ');
  CHECK(PostWith(*this, kJson, "/v1/metrics", R"({"unknown":[1]})" + blanks).status == 200);
  CHECK(PostWith(*this, kJson, "/v1/metrics", R"({"un_known":[1]})").status == 200);
  reply = PostWith(*this, kJson, "/v1/metrics", R"({"un_known":[1]})" + blanks);
  CHECK(reply.status == 413);
  CHECK(reply.body.starts_with(R"({"code":8,"message":"JSON of an unusual form)"));
  CHECK(PostWith(*this, kProtobuf, "/v1/metrics", "").status == 200);  // no metrics
}

TEST_CASE_FIXTURE(EdgeFixture, "only the path of the protocol is served") {
  CHECK(PostWith(*this, kJson, "/v1/traces", "{}").status == 404);
  CHECK(PostWith(*this, kJson, "/v1", "{}").status == 404);
  BufferResponse reply;
  auto request = MakeRequest("GET", "/v1/metrics");
  Dispatch(request, services, reply);
  CHECK(reply.status == 400);  // like every path outside /api
}

TEST_CASE_FIXTURE(EdgeFixture, "the path depends on the API setting, not on the web page setting") {
  options.ui_enabled = false;
  CHECK(PostWith(*this, kJson, "/v1/metrics", "{}").status == 200);
  options.ui_enabled = true;
  options.api_enabled = false;
  CHECK(PostWith(*this, kJson, "/v1/metrics", "{}").status == 404);
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "many points with too many labels are refused without examining each label") {
  LabelledPoints points(services, RequestContext::Unlimited(), nullptr, nullptr);
  std::vector<std::string> names;
  for (int i = 0; i < 120; ++i) names.push_back("key" + std::to_string(i));
  const std::string value(200, 'x');
  std::vector<Label> labels;
  for (const std::string& name : names) labels.push_back({name, value});
  constexpr int kPoints = 200'000;
  CHECK(CpuSecondsOf([&] {
          for (int i = 0; i < kPoints; ++i) {
            points.BeginItem();
            points.SetSeries("m", labels);
            points.Add(1700000000000 + i, PointValue::Int(1));
          }
          CHECK(points.Finish().ok());
        }) < 3);
  CHECK(points.refused() == kPoints);
  CHECK(points.first_refusal().find("Too many tags: 120") != std::string::npos);
  CHECK(Cells().empty());
}

TEST_CASE_FIXTURE(EdgeFixture, "points of series with long escaped names are stored in parts") {
  LabelledPoints labelled(services, RequestContext::Unlimited(), nullptr, nullptr);
  constexpr int kPoints = 600;
  const std::string value(4600, ' ');  // 32200 bytes with its escapes
  for (int i = 0; i < kPoints; ++i) {
    labelled.BeginItem();
    labelled.SetSeries("m", std::vector<Label>{{"host", value}});
    labelled.Add(1700000000000 + i, PointValue::Int(1));
  }
  CHECK(labelled.Finish().ok());
  CHECK(labelled.refused() == 0);
  CHECK(labelled.stored() == kPoints);
  CHECK(points.appends.load() == 9);  // names of at most 1 MiB each, then known series
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "no more points are accepted once the request has done too much work") {
  FakeWatch watch;
  watch.steps_max = 100'000;
  LabelledPoints points(services, watch, nullptr, nullptr);
  const std::string value(200, 'x');
  for (int i = 0; i < 20'000; ++i) {
    points.BeginItem();
    points.SetSeries("m", std::vector<Label>{{"host", value}});
    points.Add(1700000000000 + i, PointValue::Int(1));
  }
  CHECK(points.Finish().code() == StatusCode::kDeadlineExceeded);
  CHECK(watch.steps < 120'000);
}

TEST_CASE_FIXTURE(EdgeFixture, "a request may end between two series that get names") {
  FakeWatch watch;
  LabelledPoints points(services, watch, nullptr, nullptr);
  const std::string value(30 << 10, '\x01');
  for (int i = 0; i < 100; ++i) {
    points.BeginItem();
    points.SetSeries("m" + std::to_string(i), std::vector<Label>{{"host", value}});
    points.Add(1700000000000, PointValue::Int(1));
  }
  watch.steps_max = watch.steps + 10'000;
  CHECK(points.Finish().code() == StatusCode::kDeadlineExceeded);
  CHECK(watch.steps < watch.steps_max + 10'000);
  CHECK(Ids().empty());
}

TEST_CASE_FIXTURE(EdgeFixture,
                  "if no new series is accepted, known ones are stored and the request gets 503") {
  REQUIRE(PostWith(*this, kJson, "/v1/metrics", RequestText(Gauge(R"("asInt":"5")"))).status ==
          200);
  points.RefuseNewSeries(Status::Exhausted("no memory for series"));
  const auto reply = PostWith(*this, kJson, "/v1/metrics",
                              RequestText(Gauge(R"("asInt":"6")", 2) +
                                          R"(,{"timeUnixNano":"1700000001000000000","asInt":"7",
              "attributes":[{"key":"k0","value":{"stringValue":"v"}}]})"));
  CHECK(reply.status == 503);
  CHECK(*reply.Header("Retry-After") == "1");
  CHECK(Cells().size() == 2);
}

}  // namespace hg::http
