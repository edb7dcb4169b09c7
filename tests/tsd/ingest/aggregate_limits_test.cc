// Histograms and rollups count towards the limits of metrics and clients, like points.

#include <doctest/doctest.h>

#include <string>

#include "http/access/client_limits.h"
#include "http/routes/router.h"
#include "http/telnet/lines.h"
#include "tests/http/edge_fixture.h"
#include "tests/support/away_store.h"
#include "tsd/append_mode.h"
#include "tsd/ingest/histogram_ingest.h"
#include "tsd/ingest/rollup_ingest.h"

namespace hg::tsd {
namespace {

RollupIngestOptions Hourly() {
  RollupIngestOptions options;
  options.tables.aggregator_ids = {{"sum", 0}};
  codec::RollupLevel raw;
  raw.name = "1m";
  raw.table = "tsdb";
  raw.pre_aggregate_table = "pre";
  raw.is_default = true;
  codec::RollupLevel hourly;
  hourly.name = "1h";
  hourly.table = "hourly";
  hourly.pre_aggregate_table = "pre";
  hourly.interval = {3600, codec::RollupSpanUnit::kDays, 1, 24};
  options.tables.levels = {raw, hourly};
  return options;
}

struct Aggregates : http::EdgeFixture {
  explicit Aggregates(MetricLimitOptions metric, http::ClientLimitOptions client = {})
      : EdgeFixture(AllAutomatic(), metric), clients(client, clock) {
    options.histogram_codec_id = 0;
    services.histograms = &histograms;
    services.rollups = &rollups;
    for (const char* table : {"hourly", "pre"})
      REQUIRE(store.CreateTable({table, {{"t"}}, false}).ok());
  }

  http::BufferResponse Send(const std::string& target, const std::string& body) {
    http::BufferResponse reply;
    http::Request request = http::MakeRequest("POST", target, body);
    request.writer = clients.OfAddress("10.0.0.7");
    http::Dispatch(request, services, reply);
    return reply;
  }
  /// Sends `count` values of the series of the host to /api/histogram or /api/rollup.
  http::BufferResponse Put(bool histogram, const std::string& metric, int count,
                           const std::string& host = "a") {
    std::string body = "[";
    for (int i = 0; i < count; ++i) {
      body += std::string(i > 0 ? "," : "") + R"({"metric":")" + metric + R"(","timestamp":)" +
              std::to_string(1700006400 + i * 3600) + R"(,"tags":{"host":")" + host + R"("},)" +
              (histogram ? R"("buckets":{"0,10":1}})"
                         : R"("value":1,"interval":"1h","aggregator":"sum"})");
    }
    return Send(histogram ? "/api/histogram" : "/api/rollup", body + "]");
  }
  size_t Stored(bool histogram) {
    if (histogram) return Cells().size();
    ScanSpec spec;
    spec.table = "hourly";
    size_t cells = 0;
    const auto scan = store.Scan(spec);
    REQUIRE(scan.ok());
    for (std::vector<Row> rows;;) {
      REQUIRE((*scan)->Next(&rows).ok());
      if (rows.empty()) return cells;
      for (const Row& row : rows) cells += row.cells.size();
    }
  }

  uid::SeriesTracker tracker{store, clock, {}};
  HistogramIngest histograms{ingest, store, KeyLayout(), "tsdb", tracker};
  RollupIngest rollups{ingest, store, KeyLayout(), Hourly()};
  http::ClientLimits clients;
};

TEST_CASE("histograms and rollups of a metric over its rate are refused together") {
  for (const bool histogram : {true, false}) {
    CAPTURE(histogram);
    Aggregates edge({.points_per_s = 2, .series_max = 0});
    CHECK(edge.Put(histogram, "busy", 5).status == 204);
    const auto refused = edge.Put(histogram, "busy", 3);
    CHECK(refused.status == 429);
    CHECK(refused.Header("Retry-After") != nullptr);
    CHECK(refused.body.find("the metric busy takes no more than 2 points a second") !=
          std::string::npos);
    CHECK(edge.metric_limits.refused_points() == 3);
    CHECK(edge.Put(!histogram, "busy", 1).status == 429);
    CHECK(edge.Send("/api/put", R"({"metric":"busy","timestamp":1,"value":1,"tags":{"a":"b"}})")
              .status == 429);
    CHECK(edge.Put(histogram, "calm", 1).status == 204);
    CHECK(edge.Stored(histogram) == 6);
    const std::string line = histogram ? "histogram busy 1700000000 0,10=1 host=a\n"
                                       : "rollup 1h-sum busy 1700006400 1 host=a\n";
    const http::LinesResult said = http::RunTelnetLines(line, edge.services);
    CHECK(said.busy);
    CHECK(said.text.empty());
    edge.clock.AdvanceMs(2000);
    CHECK(edge.Put(histogram, "busy", 1).status == 204);
  }
}

TEST_CASE("histograms and rollups of a client over its rate are refused together") {
  for (const bool histogram : {true, false}) {
    CAPTURE(histogram);
    Aggregates edge({}, {.points_per_s = 2, .new_series_per_hour = 0});
    CHECK(edge.Put(histogram, "m", 5).status == 204);
    const auto refused = edge.Put(histogram, "m", 3);
    CHECK(refused.status == 429);
    CHECK(refused.body.find("address 10.0.0.7 may write 2 points a second") != std::string::npos);
    CHECK(edge.clients.refused_points() == 3);
    CHECK(edge.Stored(histogram) == 5);
  }
}

TEST_CASE("series of histograms and rollups count once, within the limits of metric and client") {
  for (const bool histogram : {true, false}) {
    CAPTURE(histogram);
    Aggregates edge({.points_per_s = 0, .series_max = 2});
    for (const char* host : {"a", "b", "a", "b"})
      CHECK(edge.Put(histogram, "m", 2, host).status == 204);
    const size_t ids = edge.Ids().size();
    const auto refused = edge.Put(histogram, "m", 1, "c");
    CHECK(refused.status == 400);
    CHECK(edge.Ids().size() == ids);
    CHECK(edge.metric_limits.refused_series() == 1);
    CHECK(edge.Put(histogram, "other", 1, "c").status == 204);

    Aggregates by_client({}, {.points_per_s = 0, .new_series_per_hour = 2});
    for (const char* host : {"a", "b", "c", "a"}) (void)by_client.Put(histogram, "m", 1, host);
    CHECK(by_client.Put(histogram, "m", 1, "d").status == 400);
    CHECK(by_client.clients.refused_series() >= 1);
    CHECK(by_client.Put(histogram, "m", 1, "a").status == 204);
  }
}

TEST_CASE("in append mode series of histograms and rollups also count once") {
  for (const bool histogram : {true, false}) {
    CAPTURE(histogram);
    Aggregates edge({.points_per_s = 0, .series_max = 2});
    const auto points = MakeAppendModePoints(edge.store, edge.points, "tsdb");
    Ingest ingest(*points, edge.names, Aggregates::AllAutomatic(), &edge.metric_limits);
    HistogramIngest histograms(ingest, edge.store, KeyLayout(), "tsdb", edge.tracker);
    RollupIngest rollups(ingest, edge.store, KeyLayout(), Hourly());
    edge.services.histograms = &histograms;
    edge.services.rollups = &rollups;
    for (const char* host : {"a", "b", "a", "b"})
      CHECK(edge.Put(histogram, "m", 2, host).status == 204);
    CHECK(edge.Put(histogram, "m", 1, "c").status == 400);
    CHECK(edge.metric_limits.refused_series() == 1);
  }
}

namespace {

/// A store with a handle for later commits. Writes that wait for their own commit fail.
struct LaterStore : ModelStore {
  LaterStore() {
    for (const char* table : {"tsdb", "hourly", "pre"})
      REQUIRE(later.CreateTable({table, {{"t"}}, false}).ok());
  }
  Store& CommittedLater() override { return later; }
  std::vector<Status> MutateRows(const std::string& /*table*/,
                                 const std::vector<RowMutation>& rows) override {
    return std::vector<Status>(rows.size(), Status::IoError("this write waits"));
  }

  ModelStore later;
};

}  // namespace

TEST_CASE("the histograms or rollups of a request are committed together, before the response") {
  for (const bool histogram : {true, false}) {
    CAPTURE(histogram);
    Aggregates edge({});
    LaterStore store;
    HistogramIngest histograms(edge.ingest, store, KeyLayout(), "tsdb", edge.tracker);
    RollupIngest rollups(edge.ingest, store, KeyLayout(), Hourly());
    edge.services.histograms = &histograms;
    edge.services.rollups = &rollups;
    CHECK(edge.Put(histogram, "m", 5).status == 204);
    CHECK(edge.points.commits == 1);
    std::string lines;
    for (const char* host : {"a", "b", "c"}) {
      lines += std::string(histogram ? "histogram m 1700000000 0,10=1"
                                     : "rollup 1h-sum m 1700006400 1") +
               " host=" + host + "\n";
    }
    const http::LinesResult said = http::RunTelnetLines(lines, edge.services);
    CHECK(said.text.empty());
    CHECK(said.used == lines.size());
    CHECK(edge.points.commits == 2);
    // If the store does not confirm the values, the client is told to send them again.
    edge.points.RefuseAppends(1);
    CHECK(edge.Put(histogram, "m", 5).status == 503);
    edge.points.RefuseAppends(1);
    const http::LinesResult waits = http::RunTelnetLines(lines, edge.services);
    CHECK(waits.busy);
    CHECK(waits.used == 0);
  }
}

TEST_CASE(
    "for an unreachable store only one metric of a request is looked up, and all values are "
    "refused") {
  Aggregates edge({.points_per_s = 2, .series_max = 0});
  AwayStore away;
  uid::Names names(away, {});
  Ingest ingest(edge.points, names, Aggregates::AllAutomatic(), &edge.metric_limits);
  HistogramIngest histograms(ingest, away, KeyLayout(), "tsdb", edge.tracker);
  RollupIngest rollups(ingest, away, KeyLayout(), Hourly());
  edge.services.histograms = &histograms;
  edge.services.rollups = &rollups;
  const auto of_many = [](const std::string& value) {
    std::string body;
    for (int i = 0; i < 100; ++i) {
      body += std::string(i > 0 ? "," : "[") + R"({"metric":"m)" + std::to_string(i) +
              R"(","timestamp":1700006400,"tags":{"host":"a"},)" + value + "}";
    }
    return body + "]";
  };
  for (const auto& [path, value] :
       {std::pair("/api/histogram", R"("buckets":{"0,10":1})"),
        std::pair("/api/rollup", R"("value":1,"interval":"1h","aggregator":"sum")")}) {
    CAPTURE(std::string(path));
    away.gets = 0;
    const auto refused = edge.Send(path, of_many(value));
    CHECK(refused.status == 503);
    CHECK(refused.Header("Retry-After") != nullptr);
    CHECK(refused.body.find("away") != std::string::npos);
    CHECK(away.gets == 1);
  }
  for (const char* line :
       {"histogram m 1700000000 0,10=1 host=a\n", "rollup 1h-sum m 1700006400 1 host=a\n"}) {
    CAPTURE(std::string(line));
    away.gets = 0;
    const http::LinesResult waits = http::RunTelnetLines(line, edge.services);
    CHECK(waits.busy);
    CHECK(waits.used == 0);
    CHECK(waits.text.empty());
    CHECK(away.gets == 1);
  }
}

TEST_CASE(
    "a value whose name is too long is refused, and the other values of the request are stored") {
  Aggregates edge({.points_per_s = 2, .series_max = 0});
  const std::string value =
      R"(","timestamp":1700006400,"tags":{"host":"a"},"value":1,"interval":"1h","aggregator":"sum"})";
  const std::string too_long(ModelStore::kKeyBytesMax + 1, 'n');
  const auto reply = edge.Send(
      "/api/rollup", R"([{"metric":")" + too_long + value + R"(,{"metric":"good)" + value + "]");
  CHECK(reply.status == 400);
  CHECK(edge.Stored(false) == 1);
}

}  // namespace
}  // namespace hg::tsd
