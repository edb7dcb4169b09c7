// Prometheus' HTTP API: facts about the server.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "storage/points/points_over_cells.h"
#include "tests/http/api/prom_fixture.h"

namespace hg::http {

namespace {

/// Points whose series have numbers, as in the embedded engine.
struct NumberedPoints : points::PointsOverCells {
  using PointsOverCells::PointsOverCells;
  [[nodiscard]] SeriesNumber series_count() const override {
    return static_cast<SeriesNumber>(tsuids.size());
  }
  [[nodiscard]] Bytes TsuidOf(SeriesNumber number) const override { return tsuids[number]; }

  std::vector<Bytes> tsuids;
};

}  // namespace

TEST_CASE("clients can identify the server") {
  PromFixture f;
  const std::string build = f.Get("/api/v1/status/buildinfo");
  CHECK(build.starts_with(R"({"status":"success","data":{"version":"3.5.0","revision":)"));
  CHECK(build.find(R"("application":"Hourglass")") != std::string::npos);
}

TEST_CASE("the lists of rules, alerts, targets and Alertmanagers are empty") {
  PromFixture f;
  CHECK(f.Get("/api/v1/alertmanagers") ==
        Success(R"({"activeAlertmanagers":[],"droppedAlertmanagers":[]})"));
  CHECK(f.Get("/api/v1/targets?state=active") ==
        Success(R"({"activeTargets":[],"droppedTargets":[],"droppedTargetCounts":{}})"));
  CHECK(f.Get("/api/v1/targets/metadata") == Success("[]"));
  CHECK(f.Get("/api/v1/scrape_pools") == Success(R"({"scrapePools":[]})"));
  CHECK(f.Get("/api/v1/rules") == Success(R"({"groups":[]})"));
  CHECK(f.Get("/api/v1/rules?type=alert") == Success(R"({"groups":[]})"));
  CHECK(f.Get("/api/v1/alerts") == Success(R"({"alerts":[]})"));
}

TEST_CASE("unknown paths below /api/v1/status get OpenTSDB's 404") {
  PromFixture f;
  for (const char* path : {"/api/status", "/api/status/buildinfo", "/api/v1/status",
                           "/api/v1/status/none", "/api/v1/status/buildinfo/x"}) {
    CAPTURE(path);
    CHECK(f.Get(path).starts_with(R"(404 {"error":{"code":404,"message":"Endpoint not found")"));
  }
}

TEST_CASE("there are no exemplars, but the parameters are checked") {
  PromFixture f;
  CHECK(f.Get("/api/v1/query_exemplars?query=up&start=1&end=2") == Success("[]"));
  CHECK(f.Post("/api/v1/query_exemplars", "query=rate(up%5B5m%5D)") == Success("[]"));
  CHECK(f.Get("/api/v1/query_exemplars?query=up&start=2&end=1") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"end\": end timestamp must not be before start time)"));
  CHECK(f.Get("/api/v1/query_exemplars?query=up&start=x").starts_with("400 "));
  CHECK(f.Get("/api/v1/query_exemplars?query=(").starts_with("400 "));
}

TEST_CASE("the settings are shown as YAML and as flags") {
  PromFixture f;
  f.settings = {{"tsd.a", "x\"y"}, {"tsd.b", ""}};
  CHECK(f.Get("/api/v1/status/config") ==
        Success(R"({"yaml":"tsd.a: \"x\\\"y\"\ntsd.b: \"\"\n"})"));
  CHECK(f.Get("/api/v1/status/flags") == Success(R"({"tsd.a":"x\"y","tsd.b":""})"));
}

TEST_CASE("/api/v1/status/runtimeinfo shows facts about the process") {
  PromFixture f;
  f.settings = {{"tsd.storage.ttl", "3600"}};
  const std::string info = f.Get("/api/v1/status/runtimeinfo");
  CHECK(info.starts_with(R"({"status":"success","data":{"startTime":"2)"));
  CHECK(info.find(R"("serverTime":"2023-11-15T01:00:00.000Z")") != std::string::npos);
  CHECK(info.find(R"("storageRetention":"3600s"}})") != std::string::npos);
}

TEST_CASE("a store that does not number its series has empty lists of the largest metrics") {
  PromFixture f;
  CHECK(f.Get("/api/v1/status/tsdb") ==
        Success(R"({"headStats":{"numSeries":0,"numLabelPairs":0,"chunkCount":0,)"
                R"("minTime":9223372036854775807,"maxTime":-9223372036854775808},)"
                R"("seriesCountByMetricName":[],"labelValueCountByLabelName":[],)"
                R"("memoryInBytesByLabelName":[],"seriesCountByLabelValuePair":[]})"));
  for (const char* limit : {"0", "-1", "x", "10001"}) {
    CAPTURE(limit);
    CHECK(f.Get(std::string("/api/v1/status/tsdb?limit=") + limit).starts_with("400 "));
  }
}

TEST_CASE("the lists of the store's status are charged, because their pairs repeat long names") {
  query::Options options = ApiFixture::UtcQueries();
  options.query_memory_bytes_max = 1 << 20;
  ApiFixture f(options);
  NumberedPoints points(&f.store, {});
  constexpr int kNames = 20;
  const auto id = [&](UidKind kind, int number) {
    const Result<Bytes> bytes =
        f.names.FindOrAssign(kind, std::string(5000, 'x') + std::to_string(number));
    REQUIRE(bytes.ok());
    return *bytes;
  };
  for (int value = 0; value < kNames; ++value) {
    Bytes tsuid = id(UidKind::kMetric, 0);
    for (int key = 0; key < kNames; ++key)
      tsuid += id(UidKind::kTagk, key) + id(UidKind::kTagv, value);
    points.tsuids.push_back(std::move(tsuid));
  }
  Services services{f.options,  f.settings, f.clock, f.store,    points,  f.names, f.annotations,
                    f.metadata, f.queries,  f.sink,  f.counters, f.notes, {}};
  const auto ask = [&](const char* limit) {
    Request request = MakeRequest("GET", std::string("/api/v1/status/tsdb?limit=") + limit);
    BufferResponse reply;
    Dispatch(request, services, reply);
    return reply.status;
  };
  CHECK(ask("1000") == 422);
  CHECK(ask("10") == 200);
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("the paths of Prometheus and InfluxDB answer CORS preflights") {
  PromFixture f;
  f.options.cors_domains = {"http://page"};
  for (const char* path : {"/api/v1/query", "/api/v1/format_query", "/api/v1/status/tsdb",
                           "/federate", "/write", "/api/v2/write", "/ping", "/-/healthy"}) {
    CAPTURE(path);
    const BufferResponse reply = f.Ask("OPTIONS", path, {}, {{"origin", "http://page"}});
    CHECK(reply.status == 200);
    REQUIRE(reply.Header("Access-Control-Allow-Origin") != nullptr);
    CHECK(*reply.Header("Access-Control-Allow-Origin") == "http://page");
    CHECK(f.Ask("OPTIONS", path, {}, {{"origin", "http://other"}})
              .Header("Access-Control-Allow-Origin") == nullptr);
  }
}

TEST_CASE("OPTIONS lists the methods of a path that OpenTSDB does not have") {
  PromFixture f;
  for (const auto& [path, methods] :
       {std::pair{"/api/v1/format_query", "GET, POST, OPTIONS"},
        std::pair{"/federate", "GET, OPTIONS"}, std::pair{"/v1/metrics", "POST, OPTIONS"},
        std::pair{"/api/v1/labels", "GET, POST, OPTIONS"},
        std::pair{"/api/v1/label/job/values", "GET, OPTIONS"},
        std::pair{"/api/v1/query", "GET, POST, DELETE, OPTIONS"},
        std::pair{"/prometheus/api/v1/write", "POST, OPTIONS"},
        std::pair{"/-/healthy", "GET, HEAD, OPTIONS"}}) {
    CAPTURE(path);
    const BufferResponse reply = f.Ask("OPTIONS", path);
    CHECK(reply.status == 204);
    REQUIRE(reply.Header("Allow") != nullptr);
    CHECK(*reply.Header("Allow") == methods);
  }
  for (const char* path : {"/api/put", "/api/v1/put", "/api/query", "/api/v1/suggest"})
    CHECK(f.Ask("OPTIONS", path).status == 405);
  CHECK(f.Ask("OPTIONS", "/api/v1/nothing").status == 405);
}

}  // namespace hg::http
