// Requests larger than one batch of the store, and limits of points per second.

#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <string>
#include <tuple>
#include <utility>

#include "http/access/client_limits.h"
#include "http/wire/otlp_json.h"
#include "http/wire/request_memory.h"
#include "http/wire/snappy_block.h"
#include "tests/http/post_with.h"

namespace hg::http {
namespace {

constexpr uint64_t kRate = 5000;
constexpr int kPoints = 20'000;
constexpr size_t kCells = kPoints;
constexpr int kSeries = 4;
constexpr int64_t kSecond = 1700000000;

/// Points of one metric in a wire format. The names of their series begin with `series`.
struct Language {
  std::string target;
  Headers headers;
  std::string (*body)(const std::string& series);
};

std::string RemoteWriteBody(const std::string& series) {
  prometheus::WriteRequest message;
  for (int s = 0; s < kSeries; ++s) {
    prometheus::TimeSeries* one = message.add_timeseries();
    for (const auto& [name, value] : {std::pair<std::string, std::string>("__name__", "m"),
                                      {"s", series + std::to_string(s)}}) {
      prometheus::Label* label = one->add_labels();
      label->set_name(name);
      label->set_value(value);
    }
    for (int i = 0; i < kPoints / kSeries; ++i) {
      prometheus::Sample* sample = one->add_samples();
      sample->set_timestamp((kSecond + i) * 1000);
      sample->set_value(i);
    }
  }
  return PackSnappy(message.SerializeAsString());
}

std::string OtlpBodyOf(const std::string& series) {
  std::string points;
  for (int i = 0; i < kPoints; ++i) {
    points += std::string(i > 0 ? "," : "") + R"({"timeUnixNano":")" +
              std::to_string(kSecond + i / kSeries) + R"(000000000","asInt":1,"attributes":[)" +
              R"({"key":"s","value":{"stringValue":")" + series + std::to_string(i % kSeries) +
              "\"}}]}";
  }
  return R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[)" +
         points + "]}}]}]}]}";
}

std::string InfluxBody(const std::string& series) {
  std::string lines;
  for (int i = 0; i < kPoints; ++i) {
    lines += "m,s=" + series + std::to_string(i % kSeries) + " value=1 " +
             std::to_string(kSecond + i / kSeries) + "\n";
  }
  return lines;
}

const Language kLanguages[] = {{"/api/v1/write",
                                {{"content-type", "application/x-protobuf"},
                                 {"content-encoding", "snappy"},
                                 {"x-prometheus-remote-write-version", "0.1.0"}},
                                RemoteWriteBody},
                               {"/v1/metrics", {{"content-type", "application/json"}}, OtlpBodyOf},
                               {"/write?precision=s", {}, InfluxBody}};

struct LimitedEdge : EdgeFixture {
  LimitedEdge(ClientLimitOptions client, tsd::MetricLimitOptions metric)
      : EdgeFixture(AllAutomatic(), metric), clients(client, clock) {}

  int Send(const std::string& target, const Headers& headers, std::string_view body) {
    BufferResponse reply;
    Request request = MakeRequest("POST", target, body);
    request.headers = headers;
    request.writer = clients.OfAddress("10.0.0.7");
    Dispatch(request, services, reply);
    return reply.status;
  }
  int Put(const std::string& metric) {
    return Send(
        "/api/put", {},
        R"({"metric":")" + metric + R"(","timestamp":1700000000,"value":1,"tags":{"a":"b"}})");
  }

  ClientLimits clients;
};

}  // namespace

TEST_CASE("a large request over a rate limit stores nothing, and is accepted later") {
  for (const bool by_metric : {false, true}) {
    for (const Language& language : kLanguages) {
      CAPTURE(by_metric);
      CAPTURE(language.target);
      LimitedEdge edge({.points_per_s = by_metric ? 0 : kRate, .new_series_per_hour = 0},
                       {.points_per_s = by_metric ? kRate : 0, .series_max = 0});
      const auto send = [&](const std::string& series) {
        return edge.Send(language.target, language.headers, language.body(series));
      };
      CHECK(send("a") < 300);
      CHECK(edge.Cells().size() == kCells);
      int tries = 0;
      while (send("b") == 429 && ++tries < 10) {
        REQUIRE(edge.Cells().size() == kCells);
        edge.clock.AdvanceMs(1000);
      }
      CHECK(tries == static_cast<int>(kPoints / kRate) - 1);
      CHECK(edge.Cells().size() == 2 * kCells);
    }
  }
}

TEST_CASE("points refused by a metric's rate are not charged to the client, and vice versa") {
  LimitedEdge edge({.points_per_s = 5, .new_series_per_hour = 0},
                   {.points_per_s = 1, .series_max = 0});
  for (int i = 0; i < 2; ++i) CHECK(edge.Put("busy") == 204);
  for (int i = 0; i < 20; ++i) CHECK(edge.Put("busy") == 429);
  for (int i = 0; i < 4; ++i) CHECK(edge.Put("calm" + std::to_string(i)) == 204);
  for (int i = 0; i < 20; ++i) CHECK(edge.Put("calm0") == 429);
  edge.clock.AdvanceMs(200);
  CHECK(edge.Put("calm0") == 204);
}

TEST_CASE("points that the store refuses are not charged") {
  LimitedEdge edge({.points_per_s = 1, .new_series_per_hour = 0},
                   {.points_per_s = 1, .series_max = 0});
  edge.points.RefuseAppends(20);
  for (int i = 0; i < 20; ++i) CHECK(edge.Put("m") == 503);
  CHECK(edge.Put("m") == 204);
}

TEST_CASE("every handler charges its request with the memory of parsing it and of its names") {
  EdgeFixture edge;
  const auto refused = [&](std::string_view target, const Headers& headers, std::string_view body,
                           uint64_t bytes_max) {
    RequestMemory memory(bytes_max);
    RequestMemory::Share share(memory, 0);
    Request request = MakeRequest("POST", target, body);
    request.headers = headers;
    request.memory = &share;
    BufferResponse reply;
    Dispatch(request, edge.services, reply);
    return !share.refusal().ok();
  };
  const std::string json = OtlpBodyOf("a");
  std::string protobuf;
  REQUIRE(OtlpJsonToProtobuf(json, &protobuf, nullptr));
  for (const auto& [target, type, body] :
       {std::tuple("/api/put", "application/json", std::string("[{}]")),
        {"/api/query", "application/json", R"({"start":1,"queries":[{"metric":"m"}]})"},
        {"/api/v1/query", "application/x-www-form-urlencoded", "query=up&time=1"},
        {"/query", "application/x-www-form-urlencoded", "q=CREATE+DATABASE+x"},
        {"/v1/metrics", "application/json", json},
        {"/v1/metrics", "application/x-protobuf", protobuf}}) {
    CAPTURE(std::string(target));
    CAPTURE(std::string(type));
    CHECK(refused(target, {{"content-type", type}}, body, 64));
    CHECK_FALSE(refused(target, {{"content-type", type}}, body, 1 << 30));
  }
  // Each empty message takes two bytes. Unpacking the body needs little memory, and parsing it
  // exceeds the limit.
  std::string empties;
  for (int i = 0; i < 100'000; ++i) empties += std::string("\x0A\0", 2);
  std::string series = "\x0A";
  for (size_t size = empties.size(); size > 0; size >>= 7)
    series += static_cast<char>(size > 127 ? size % 128 + 128 : size);
  series += empties;
  for (const auto& [target, body] :
       {std::pair("/api/v1/write", PackSnappy(series)), {"/api/v1/read", PackSnappy(empties)}}) {
    CAPTURE(std::string(target));
    CHECK(refused(target, kLanguages[0].headers, body, 64));
    CHECK(refused(target, kLanguages[0].headers, body, 1 << 20));
    CHECK_FALSE(refused(target, kLanguages[0].headers, body, 1 << 30));
  }
  // Each field, and each data point, repeats a long name. The bodies have fewer than 64 KiB.
  std::string line = std::string(1000, 'm') + " a=1";
  for (int i = 0; i < 1000; ++i) line += ",f" + std::to_string(i) + "=1";
  std::string metrics;
  for (int i = 0; i < 100; ++i) {
    metrics += std::string(i > 0 ? "," : "") + R"({"name":"m)" + std::to_string(i) +
               R"(","gauge":{"dataPoints":[{"timeUnixNano":"1700000000000000000","asInt":1}]}})";
  }
  const std::string scopes = R"({"resourceMetrics":[{"scopeMetrics":[{"scope":{"attributes":[)"
                             R"({"key":"k","value":{"stringValue":")" +
                             std::string(20'000, 'v') + R"("}}]},"metrics":[)" + metrics + "]}]}]}";
  for (const auto& [target, headers, body, bytes_max] :
       {std::tuple("/write?precision=s", Headers(), line, 1 << 20),
        {"/v1/metrics", Headers{{"content-type", "application/json"}}, scopes, 1 << 22}}) {
    CAPTURE(std::string(target));
    CHECK(refused(target, headers, body, bytes_max));
    CHECK_FALSE(refused(target, headers, body, 1 << 23));
  }
}

}  // namespace hg::http
