#include "tsd/hbase_backend.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

#include "storage/codec/row_key.h"
#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"
#include "tsd/open_backend.h"
#include "tsd/spool_settings.h"

namespace hg::tsd {
namespace {

/// A gateway over the model, and settings with its address.
struct Cluster {
  Cluster() : gateway([this]() -> Store& { return model; }, {}) {
    config.Set("tsd.storage.backend", "hbase");
    config.Set("tsd.storage.hbase.thrift", "127.0.0.1:" + std::to_string(gateway.port()));
  }

  ModelStore model;
  hbase::FakeGateway gateway;
  Config config;
};

const Bytes kTsuid = [] {
  Bytes tsuid;
  for (int id = 0; id < 3; ++id) AppendBig(&tsuid, 1, 3);
  return tsuid;
}();

TEST_CASE("missing tables are created with OpenTSDB's attributes, and points are stored") {
  Cluster cluster;
  auto backend = OpenBackend(cluster.config, "", StoreUse::kWork);
  REQUIRE(backend.ok());
  for (const char* table : {"tsdb", "tsdb-uid", "tsdb-tree", "tsdb-meta"}) {
    const auto there = cluster.model.DescribeTable(table);
    REQUIRE(there.ok());
    CHECK(there->families[0].data_block_encoding == "DIFF");
    CHECK(there->families[0].compression == "NONE");
  }
  Points& points = (*backend)->points();
  CHECK((*backend)->remote());
  const auto series = points.Register(kTsuid);
  REQUIRE(series.ok());
  const PointEntry entry = MakePointEntry(*series, Timestamp{1356998405}, PointValue::Int(7));
  REQUIRE(points.Append({&entry, 1}).ok());
  const auto row =
      cluster.model.Get("tsdb", codec::MakeRowKey(KeyLayout(), kTsuid, 1356998400), "t");
  REQUIRE(row.ok());
  REQUIRE(row->cells.size() == 1);
  CHECK(row->cells[0].value == Bytes(1, '\7'));
  CHECK((*backend)->Close().ok());
}

TEST_CASE("statistics have calls by method and connections by gateway") {
  Cluster cluster;
  auto backend = OpenBackend(cluster.config, "", StoreUse::kWork);
  REQUIRE(backend.ok());
  std::map<std::string, int64_t> shown;
  (*backend)->CollectStats([&](const std::string& name, const std::string& tags, int64_t value) {
    shown[name + "{" + tags + "}"] = value;
  });
  CHECK(shown.at("hbase.gateway.calls{method=createTable}") == 4);
  CHECK(shown.at("hbase.gateway.failures{method=createTable}") == 0);
  CHECK(shown.contains("hbase.gateway.latency_95pct{method=createTable}"));
  const std::string gateway = "gateway=127.0.0.1 port=" + std::to_string(cluster.gateway.port());
  CHECK(shown.at("hbase.gateway.connections{" + gateway + " state=open}") == 1);
  CHECK(shown.at("hbase.gateway.away{" + gateway + "}") == 0);
  CHECK(shown.at("hbase.gateway.puts.waiting{}") == 0);
  std::map<std::string, LatencyHistogram> took;
  (*backend)->CollectLatencies(
      [&](const std::string& name, const std::string& tags, const LatencyHistogram& of) {
        took[name + "{" + tags + "}"] = of;
      });
  CHECK(took.at("hbase.gateway.latency{method=createTable}").count == 4);
  CHECK(took.at("hbase.gateway.latency{method=createTable}").sum.count() > 0);
}

TEST_CASE("the daemon acknowledges points while HBase is unreachable, and writes them later") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("hg_hbase_backend_" + std::to_string(getpid()));
  Cluster cluster;
  cluster.config.Set("tsd.storage.path", folder.string());
  cluster.config.Set("tsd.storage.hbase.spool.patience", "1");
  auto backend = OpenBackend(cluster.config, "", StoreUse::kServe);
  REQUIRE(backend.ok());
  Points& points = (*backend)->points();
  const auto series = points.Register(kTsuid);
  REQUIRE(series.ok());
  hbase::GatewayOptions again;
  again.port = cluster.gateway.port();
  cluster.gateway.Stop();
  const PointEntry entry = MakePointEntry(*series, Timestamp{1356998405}, PointValue::Int(7));
  REQUIRE(points.Append({&entry, 1}).ok());
  CHECK(points.Append({}).ok());  // the spool has space for more
  const auto shown = [&](const std::string& wanted) {
    int64_t shown = -1;
    (*backend)->CollectStats([&](const std::string& name, const std::string&, int64_t value) {
      if (name == wanted) shown = value;
    });
    return shown;
  };
  CHECK(shown("hbase.spool.taken") == 1);
  CHECK(shown("hbase.spool.bytes") > 0);
  CHECK((*backend)->WritesWait());
  // A daemon whose settings would not replay the points does not start.
  cluster.config.Set("tsd.storage.hbase.spool.size", "0");
  const Status without = ReadSpoolOptions(cluster.config).status();
  CHECK(without.code() == StatusCode::kInvalidArgument);
  CHECK(without.message().find(folder.string() + "/spool") != std::string_view::npos);
  while ((*backend)->Health().ok()) std::this_thread::yield();
  CHECK((*backend)->Health().message().find("points wait") != std::string_view::npos);
  const hbase::FakeGateway back([&]() -> Store& { return cluster.model; }, again);
  while (shown("hbase.spool.bytes") > 0) std::this_thread::yield();
  CHECK((*backend)->Health().ok());
  CHECK_FALSE((*backend)->WritesWait());
  while (!ReadSpoolOptions(cluster.config).ok()) std::this_thread::yield();
  CHECK(cluster.model.Get("tsdb", codec::MakeRowKey(KeyLayout(), kTsuid, 1356998400), "t")
            ->cells.size() == 1);
  CHECK((*backend)->Close().ok());
  backend->reset();
  std::filesystem::remove_all(folder);
}

TEST_CASE("without a spool the daemon reports that HBase is unreachable") {
  Cluster cluster;
  cluster.config.Set("tsd.storage.hbase.spool.size", "0");
  cluster.config.Set("tsd.storage.hbase.thrift.deadline", "50");
  auto backend = OpenBackend(cluster.config, "", StoreUse::kServe);
  REQUIRE(backend.ok());
  Points& points = (*backend)->points();
  const auto series = points.Register(kTsuid);
  REQUIRE(series.ok());
  CHECK(points.Append({}).ok());
  hbase::GatewayOptions again;
  again.port = cluster.gateway.port();
  cluster.gateway.Stop();
  const PointEntry entry = MakePointEntry(*series, Timestamp{1356998405}, PointValue::Int(7));
  REQUIRE(points.Append({&entry, 1}).status().code() == StatusCode::kUnavailable);
  const Status away = points.Append({}).status();
  CHECK(away.code() == StatusCode::kUnavailable);
  CHECK(away.message().find("cannot be reached") != std::string_view::npos);
  const hbase::FakeGateway back([&]() -> Store& { return cluster.model; }, again);
  while (!points.Append({&entry, 1}).ok()) std::this_thread::yield();
  CHECK(points.Append({}).ok());
}

TEST_CASE("existing tables are used with their own attributes, unless a family is missing") {
  Cluster cluster;
  TableDescriptor foreign{"tsdb", {{"t"}, {"more"}}, false};
  foreign.families[0].compression = "ZSTD";
  REQUIRE(cluster.model.CreateTable(foreign).ok());
  CHECK(OpenBackend(cluster.config, "", StoreUse::kWork).ok());
  CHECK(*cluster.model.DescribeTable("tsdb") == foreign);
  REQUIRE(cluster.model.DropTable("tsdb-uid").ok());
  REQUIRE(cluster.model.CreateTable({"tsdb-uid", {{"id"}}, false}).ok());
  const Status refused = OpenBackend(cluster.config, "", StoreUse::kWork).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("tsdb-uid has no family name") != std::string_view::npos);
}

TEST_CASE("no table is created if the setting is off") {
  Cluster cluster;
  cluster.config.Set("tsd.storage.hbase.create_tables", "false");
  CHECK(OpenBackend(cluster.config, "", StoreUse::kWork).status().code() == StatusCode::kNotFound);
  CHECK(cluster.model.ListTables()->empty());
}

TEST_CASE("a tool that only reads creates nothing, and gets an error for a missing table") {
  Cluster cluster;
  const auto backend = OpenBackend(cluster.config, "", StoreUse::kLook);
  REQUIRE(backend.ok());
  CHECK(cluster.model.ListTables()->empty());
  const Status missing = (*backend)->cells().Get("tsdb", "k").status();
  CHECK(missing.code() == StatusCode::kNotFound);
}

TEST_CASE(
    "points whose table is missing are refused as unavailable, so that their sender keeps them") {
  for (const char* appends : {"false", "true"}) {
    Cluster cluster;
    cluster.config.Set("tsd.storage.enable_appends", appends);
    const auto backend = OpenBackend(cluster.config, "", StoreUse::kWork);
    REQUIRE(backend.ok());
    REQUIRE(cluster.model.DropTable("tsdb").ok());
    Points& points = (*backend)->points();
    const PointEntry entry =
        MakePointEntry(*points.Register(kTsuid), Timestamp{1356998405}, PointValue::Int(7));
    const Status refused = points.Append({&entry, 1}).status();
    CHECK(refused.code() == StatusCode::kUnavailable);
    CHECK(refused.message().find("tsdb") != std::string_view::npos);
  }
}

TEST_CASE("settings are translated to options") {
  Config config;
  config.Set("tsd.storage.hbase.thrift", "one:9090, two:9191");
  config.Set("tsd.storage.hbase.thrift.transport", "framed");
  config.Set("tsd.storage.hbase.thrift.protocol", "compact");
  config.Set("tsd.storage.durability", "synced");
  config.Set("tsd.storage.hbase.thrift.connections", "3");
  config.Set("tsd.storage.salt.width", "1");
  const auto options = ReadHbaseOptions(config);
  REQUIRE(options.ok());
  REQUIRE(options->gateways.size() == 2);
  CHECK(options->gateways[1].host == "two");
  CHECK(options->gateways[1].port == 9191);
  CHECK(options->transport == hbase::Transport::kFramed);
  CHECK(options->compact);
  CHECK(options->write_ahead == hbase::WriteAhead::kSynced);
  CHECK(options->connections == 3);
  CHECK(options->layout.salt_width == 1);
}

TEST_CASE("an invalid setting is refused with key and value") {
  for (const auto& [key, value] :
       {std::pair{"tsd.storage.hbase.thrift", "host"}, std::pair{"tsd.storage.hbase.thrift", ":1"},
        std::pair{"tsd.storage.hbase.thrift", "host:70000"},
        std::pair{"tsd.storage.hbase.thrift.transport", "pigeon"},
        std::pair{"tsd.storage.hbase.thrift.protocol", "json"},
        std::pair{"tsd.storage.hbase.thrift.connections", "17"},
        std::pair{"tsd.storage.durability", "safe"}, std::pair{"tsd.storage.backend", "tape"}}) {
    CAPTURE(key);
    Config config;
    config.Set("tsd.storage.backend", "hbase");
    config.Set(key, value);
    const Status refused = OpenBackend(config, "", StoreUse::kWork).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(std::string(key) + " = \"" + value) != std::string_view::npos);
  }
}

}  // namespace
}  // namespace hg::tsd
