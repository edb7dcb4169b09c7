#include <doctest/doctest.h>
#include <otlp.pb.h>

#include "http/wire/protobuf_message.h"
#include "tests/http/post_with.h"

namespace hg::http {
namespace {

const Headers kJson = {{"content-type", "application/json"}};
const Headers kProtobuf = {{"content-type", "application/x-protobuf"}};

/// A gauge of the number of tags, at a good time.
std::string Gauge(const std::string& value, int tags = 1) {
  std::string attributes;
  for (int i = 0; i < tags; ++i) {
    attributes += std::string(i > 0 ? "," : "") + R"({"key":"k)" + std::to_string(i) +
                  R"(","value":{"stringValue":"v"}})";
  }
  return R"({"timeUnixNano":"1700000000123000000",)" + value + R"(,"attributes":[)" + attributes +
         "]}";
}

std::string Request(const std::string& points, const std::string& metric = "m.n") {
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
  REQUIRE(ParseJsonMessage(json, &request).ok());
  return request.SerializeAsString();
}

}  // namespace

TEST_CASE_FIXTURE(EdgeFixture,
                  "data points are stored under their attributes, as JSON or protobuf") {
  const std::string body = Request(Gauge(R"("asInt":"5")"));
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

TEST_CASE_FIXTURE(EdgeFixture, "what cannot be stored is told, the rest is stored") {
  const std::string body =
      Request(Gauge(R"("asDouble":1.5)") + "," + Gauge(R"("asInt":1)", 9) + "," +
              Gauge(R"("asDouble":"Infinity")") + "," + Gauge(R"("asDouble":"NaN")"));
  BufferResponse reply = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(reply.status == 200);
  CHECK(reply.body.find(R"("rejectedDataPoints":"2")") != std::string::npos);
  CHECK(reply.body.find("the first: m.n{") != std::string::npos);
  CHECK(Cells().size() == 1);
  reply = PostWith(*this, kProtobuf, "/v1/metrics", AsProtobuf(body));
  CHECK(reply.status == 200);
  otlp::ExportMetricsServiceResponse answer;
  REQUIRE(ParseMessage(reply.body, &answer));
  CHECK(answer.partial_success().rejected_data_points() == 2);
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
                  "of a resource what tells processes and machines apart becomes tags") {
  REQUIRE(PostWith(*this, kJson, "/v1/metrics", Request(Gauge(R"("asInt":5)"))).status == 200);
  CHECK(names.Find(UidKind::kTagk, "service.name").ok());
  CHECK_FALSE(names.Find(UidKind::kTagk, "process.pid").ok());
}

TEST_CASE_FIXTURE(EdgeFixture, "series of many bytes are stored before more of them are held") {
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
  CHECK(points.appends == 3);  // 8 MiB each at most
}

TEST_CASE_FIXTURE(EdgeFixture, "a store that takes nothing now is 503, in the protocol's words") {
  const std::string body = Request(Gauge(R"("asInt":5)"));
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

TEST_CASE_FIXTURE(OnePointASecond,
                  "a metric over its rate is 429, to be sent again, in the protocol's words") {
  const std::string body = Request(Gauge(R"("asInt":1)") + "," + Gauge(R"("asInt":2)", 2) + "," +
                                   Gauge(R"("asInt":3)", 3));
  CHECK(PostWith(*this, kJson, "/v1/metrics", body).status == 200);
  const BufferResponse refused = PostWith(*this, kJson, "/v1/metrics", body);
  CHECK(refused.status == 429);
  REQUIRE(refused.Header("Retry-After") != nullptr);
  CHECK(refused.body.find(R"("code":8)") != std::string::npos);
  CHECK(refused.body.find("takes no more than 1 points a second") != std::string::npos);
}

TEST_CASE_FIXTURE(EdgeFixture, "bodies that are none are refused in the protocol's words") {
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
  CHECK(PostWith(*this, kProtobuf, "/v1/metrics", "").status == 200);  // no metrics
}

TEST_CASE_FIXTURE(EdgeFixture, "the path is the protocol's, and no other") {
  CHECK(PostWith(*this, kJson, "/v1/traces", "{}").status == 404);
  CHECK(PostWith(*this, kJson, "/v1", "{}").status == 404);
  BufferResponse reply;
  Dispatch(MakeRequest("GET", "/v1/metrics"), services, reply);
  CHECK(reply.status == 400);  // as of every path that is not below /api
}

TEST_CASE_FIXTURE(EdgeFixture, "the path belongs to the API, not to the page") {
  options.ui_enabled = false;
  CHECK(PostWith(*this, kJson, "/v1/metrics", "{}").status == 200);
  options.ui_enabled = true;
  options.api_enabled = false;
  CHECK(PostWith(*this, kJson, "/v1/metrics", "{}").status == 404);
}

}  // namespace hg::http
