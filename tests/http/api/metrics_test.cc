// /metrics, /healthz, /readyz.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "http/api/collected_stats.h"
#include "http/api/metric_names.h"
#include "http/routes/router.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

bool HasLine(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("/metrics has the numbers of /api/stats with types, units and labels") {
  ApiFixture f;
  f.counters.rpc_put = 7;
  f.counters.connections_open = 3;
  f.counters.points_added = 9;
  f.counters.query_success = 5;
  f.counters.query_invalid = 6;
  f.services.collect_stats = [](const auto& add) {
    add("storage.files", "", 4);
    add("hbase.spool.age", "", 1500);
    add("hbase.gateway.latency_95pct", "method=put", 20);  // the histogram replaces it
  };
  const BufferResponse reply = f.Ask("GET", "/metrics");
  CHECK(reply.status == 200);
  CHECK(reply.content_type == "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"hourglass_rpc_received_total{type=\"put\"} 7", "hourglass_connections_open 3",
        "# TYPE hourglass_connections_open gauge", "hourglass_points_added_total{type=\"all\"} 9",
        "# TYPE hourglass_points_added_total counter",
        "hourglass_queries_total{result=\"success\"} 5",
        "hourglass_queries_total{result=\"invalid\"} 6", "hourglass_storage_files 4",
        "hourglass_hbase_spool_age_seconds 1.5"})
    CHECK_MESSAGE(HasLine(reply.body, line), line);
  CHECK(reply.body.find("latency_95pct") == std::string::npos);
  // Each family has one header.
  const std::string announced = "# TYPE hourglass_queries_total counter";
  CHECK(reply.body.find(announced) == reply.body.rfind(announced));
}

TEST_CASE("durations are histograms in seconds, so that they can be aggregated") {
  ApiFixture f;
  Latency calls;
  f.services.collect_latencies = [&calls](const auto& add) {
    add("hbase.gateway.latency", "method=put", calls.Histogram());
    add("hbase.gateway.latency", "method=get", LatencyHistogram());
  };
  for (int ms = 1; ms <= 20; ++ms) f.counters.all_requests.Record(std::chrono::milliseconds(ms));
  calls.Record(std::chrono::minutes(3));
  const std::string text = f.Ask("GET", "/metrics").body;
  const std::string name = "hourglass_http_request_duration_seconds";
  CHECK(HasLine(text, "# TYPE " + name + " histogram"));
  for (const char* line :
       {"_bucket{le=\"0.0005\"} 0", "_bucket{le=\"0.001\"} 1", "_bucket{le=\"0.01\"} 10",
        "_bucket{le=\"0.025\"} 20", "_bucket{le=\"60\"} 20", "_bucket{le=\"+Inf\"} 20", "_sum 0.21",
        "_count 20"})
    CHECK_MESSAGE(HasLine(text, name + line), line);
  CHECK(HasLine(text, "hourglass_query_scan_duration_seconds_count 0"));
  CHECK(HasLine(text, "hourglass_graph_duration_seconds_count 0"));
  CHECK(HasLine(text, "hourglass_graph_draw_duration_seconds_count 0"));
  const std::string call = "hourglass_hbase_call_latency_seconds";
  CHECK(HasLine(text, call + "_bucket{method=\"put\",le=\"60\"} 0"));
  CHECK(HasLine(text, call + "_bucket{method=\"put\",le=\"+Inf\"} 1"));
  CHECK(HasLine(text, call + "_sum{method=\"put\"} 180"));
  CHECK(HasLine(text, call + "_count{method=\"get\"} 0"));
  CHECK(text.find("quantile=") == std::string::npos);
}

TEST_CASE("/metrics describes the process and its resources") {
  ApiFixture f;
  const std::string text = f.Ask("GET", "/metrics").body;
  CHECK(text.find("\nhourglass_build_info{version=\"") != std::string::npos);
  for (const char* name : {"process_cpu_seconds_total", "process_open_fds", "process_max_fds",
                           "process_resident_memory_bytes", "process_virtual_memory_bytes",
                           "process_start_time_seconds"}) {
    const size_t at = text.find("\n" + std::string(name) + " ");
    REQUIRE_MESSAGE(at != std::string::npos, name);
    CHECK_MESSAGE(text[text.find(' ', at + 1) + 1] != '-', name);
  }
  CHECK(text.find("\nprocess_resident_memory_bytes 0\n") == std::string::npos);
  CHECK(text.find("\nprocess_open_fds 0\n") == std::string::npos);
}

TEST_CASE("a statistic without a mapping is shown untyped under its own name") {
  ApiFixture f;
  f.services.collect_stats = [](const auto& add) { add("lsm.new-files", "table=tsdb", 3); };
  const std::string text = f.Ask("GET", "/metrics").body;
  CHECK(HasLine(text, "# HELP hourglass_lsm_new_files tsd.lsm.new-files of /api/stats."));
  CHECK(HasLine(text, "# TYPE hourglass_lsm_new_files untyped"));
  CHECK(HasLine(text, "hourglass_lsm_new_files{table=\"tsdb\"} 3"));
}

TEST_CASE("metrics with one name share type and help, and only counters end in _total") {
  for (const StatMetric& a : StatMetrics()) {
    CAPTURE(a.stat);
    if (a.metric.empty()) continue;
    CHECK(a.metric == MetricName(a.metric));
    CHECK(a.metric.starts_with("hourglass_"));
    CHECK(a.metric.ends_with("_total") == (a.type == MetricType::kCounter));
    CHECK(a.help.ends_with('.'));
    for (const StatMetric& b : StatMetrics()) {
      if (a.metric != b.metric) continue;
      CHECK(a.type == b.type);
      CHECK(a.help == b.help);
    }
  }
}

TEST_CASE(
    "monitoring endpoints answer GET and HEAD in every mode, even with the web page disabled") {
  for (Mode mode : {Mode::kReadWrite, Mode::kReadOnly, Mode::kWriteOnly}) {
    ApiFixture f;
    f.options.mode = mode;
    f.options.ui_enabled = false;
    f.options.api_enabled = false;
    for (const char* path : {"/metrics", "/healthz", "/readyz", "/-/healthy", "/-/ready"}) {
      CAPTURE(path);
      CHECK(f.Ask("GET", path).status == 200);
      CHECK(f.Ask("HEAD", path).status == 200);
      CHECK(f.Ask("POST", path).status == 400);
      CHECK(f.Ask("GET", std::string("/api") + path).status == 404);
      CHECK(f.Ask("GET", std::string(path) + "/find").status == 404);
    }
  }
}

/// A store that is over its memory limit.
class FullPoints : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;
  Result<LogPosition> Append(std::span<const PointEntry>) override {
    return Status::Busy("memory is over its budget");
  }
};

TEST_CASE("/readyz gives the reason, and /healthz needs no store") {
  ApiFixture f;
  CHECK(f.Ask("GET", "/readyz").body == "ready\n");
  CHECK(HasLine(f.Ask("GET", "/metrics").body, "hourglass_ready 1"));

  FullPoints full(&f.store, {});
  Services services{f.options,  f.settings, f.clock, f.store,    full,    f.names, f.annotations,
                    f.metadata, f.queries,  f.sink,  f.counters, f.notes, {}};
  const auto ask = [&services](const char* path) {
    BufferResponse reply;
    Request request = MakeRequest("GET", path);
    Dispatch(request, services, reply);
    return reply;
  };
  CHECK(ask("/readyz").status == 503);
  CHECK(ask("/readyz").content_type == "text/plain");
  CHECK(ask("/readyz").body == "memory is over its budget\n");
  CHECK(ask("/-/ready").status == 503);
  CHECK(ask("/-/ready").body == ask("/readyz").body);
  CHECK(ask("/-/healthy").body == "ok\n");
  CHECK(HasLine(ask("/metrics").body, "hourglass_ready 0"));
  CHECK(ask("/healthz").status == 200);
  CHECK(ask("/healthz").body == "ok\n");
  Services only_known{f.options,  f.settings, f.clock, f.store,    f.points, f.names, f.annotations,
                      f.metadata, f.queries,  f.sink,  f.counters, f.notes,  {}};
  int series_full = 1, refused_now = 1;
  only_known.collect_stats = [&](const auto& show) {
    show("storage.series.full", "", series_full);
    show("storage.series.refused_now", "", refused_now);
    show("storage.memory.bytes", "", 2 << 20);
    show("storage.registry.bytes", "", 5 << 20);
    show("storage.names.bytes", "", 3 << 20);
    show("storage.files.memory_bytes", "", 1 << 20);
    show("storage.memory.limit", "", 10 << 20);
  };
  const auto ready = [&] {
    BufferResponse reply;
    Request readyz = MakeRequest("GET", "/readyz");
    Dispatch(readyz, only_known, reply);
    CHECK(reply.status == 200);
    return reply.body;
  };
  CHECK(ready() ==
        "ready\nnew series and names are refused: series (5 MB), names (3 MB) and indexes of files "
        "(1 MB) nearly fill their budget of 10 MB\n");
  series_full = 0;
  CHECK(ready() ==
        "ready\nnew series and names are refused until a flush: unflushed data (2 MB), series (5 "
        "MB), names (3 MB) and indexes of files (1 MB) nearly fill their budget of 10 MB\n");
  refused_now = 0;
  CHECK(ready() == "ready\n");
  // A read-only daemon does not accept writes anyway.
  f.options.mode = Mode::kReadOnly;
  CHECK(ask("/readyz").status == 200);
  services.collect_stats = [](const auto& show) { show("stopping", "", 1); };
  CHECK(ask("/readyz").status == 503);
  CHECK(ask("/readyz").body == "stopping\n");
}

TEST_CASE("/readyz stays 200 and names the memory of queries while large queries are refused") {
  query::Options options = ApiFixture::UtcQueries();
  options.memory_bytes_max = 16 << 20;
  options.large_bytes = 1 << 20;
  ApiFixture f(options);
  const auto running = f.queries.running().Begin("GET /api/query", {});
  REQUIRE(running->Charge((14 << 20) - 1).ok());
  CHECK(f.Ask("GET", "/readyz").body == "ready\n");
  REQUIRE(running->Charge(1).ok());
  CHECK(running->Charge(1 << 20).code() == StatusCode::kBusy);
  const auto small = f.queries.running().Begin("GET /api/query", {});
  REQUIRE(small->Charge(1 << 20).ok());
  CHECK(f.Ask("GET", "/readyz").status == 200);
  CHECK(f.Ask("GET", "/readyz").body ==
        "ready\nlarge queries are refused: running queries (15 MB) nearly fill their budget of 16 "
        "MB\n");
}

}  // namespace
}  // namespace hg::http
