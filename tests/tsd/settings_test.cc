#include "tsd/settings.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tsd/http_settings.h"
#include "tsd/query_settings.h"
#include "tsd/rollup_settings.h"
#include "tsd/tables.h"
#include "tsd/thrift2_settings.h"

namespace hg::tsd {
namespace {

Config With(std::string_view key, std::string_view value) {
  Config config;
  config.Set(key, value);
  return config;
}

TEST_CASE("the default tag is a pair of legal names, and Graphite's ports are off unless set") {
  const auto preset = ReadHttpOptions(With("tsd.ingest.default_tag", "source=unknown"));
  REQUIRE(preset.ok());
  CHECK(preset->default_tag_key == "source");
  CHECK(preset->default_tag_value == "unknown");
  CHECK_FALSE(preset->graphite_port);
  CHECK_FALSE(preset->graphite_pickle_port);
  for (const char* bad : {"source", "=x", "a=", "a b=c", "a=b=c"}) {
    CAPTURE(bad);
    const Status refused = ReadHttpOptions(With("tsd.ingest.default_tag", bad)).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(bad) != std::string::npos);
  }
  CHECK(ReadHttpOptions(With("tsd.graphite.port", "2003"))->graphite_port == 2003);
  CHECK(ReadHttpOptions(With("tsd.graphite.pickle.port", "0"))->graphite_pickle_port == 0);
  CHECK_FALSE(ReadHttpOptions(With("tsd.graphite.port", "70000")).ok());
}

TEST_CASE("measurement and field of InfluxDB's lines are joined by a dot or an underscore") {
  const auto separator = [](const char* value) {
    const auto options = ReadHttpOptions(With("tsd.ingest.influx.separator", value));
    return options.ok() ? options->influx_separator : std::string(options.status().message());
  };
  CHECK(separator(".") == ".");
  CHECK(separator("_") == "_");
  for (const char* bad : {"", "-", "__"}) CHECK(separator(bad).ends_with("\" (expected . or _)"));
  CHECK(ReadHttpOptions(With("tsd.prometheus.underscore_names", "true"))->underscore_names);
}

TEST_CASE("default settings equal the defaults of the options") {
  const Config config;
  CHECK(*ReadKeyLayout(config) == KeyLayout());
  const auto http = ReadHttpOptions(config);
  REQUIRE(http.ok());
  CHECK(http->port == http::Options().port);
  CHECK(http->bind == http::Options().bind);
  CHECK(ReadHttpOptions(With("tsd.network.bind", ""))->bind == http::Options().bind);
  CHECK(http->body_bytes_max == http::Options().body_bytes_max);
  CHECK(http->backlog == http::Options().backlog);
  CHECK(http->cors_headers == http::Options().cors_headers);
  CHECK(http->influx_separator == http::Options().influx_separator);
  CHECK(http->underscore_names == http::Options().underscore_names);
  const auto queries = ReadQueryOptions(config);
  REQUIRE(queries.ok());
  CHECK(queries->filter_expansion_limit == query::Options().filter_expansion_limit);
  CHECK(queries->batch_rows == query::Options().batch_rows);
  CHECK(queries->limits_file_interval_s == query::Options().limits_file_interval_s);
  CHECK(ReadIngestOptions(config)->max_tags == IngestOptions().max_tags);
  CHECK(ReadIngestOptions(config)->foreign_max_tags == IngestOptions().foreign_max_tags);
}

TEST_CASE("limits of connections and telnet replies reach the HTTP options") {
  CHECK(ReadHttpOptions(Config())->connections_max == 0);
  CHECK(ReadHttpOptions(Config())->idle_timeout_s == 0);
  CHECK(ReadHttpOptions(Config())->telnet_return_errors);
  CHECK(ReadHttpOptions(With("tsd.core.connections.limit", "7"))->connections_max == 7);
  CHECK(ReadHttpOptions(With("tsd.core.socket.timeout", "30"))->idle_timeout_s == 30);
  CHECK_FALSE(ReadHttpOptions(With("tsd.rpc.telnet.return_errors", "false"))->telnet_return_errors);
}

TEST_CASE("known raw series keys may use an eighth of the memory limit") {
  CHECK(ReadIngestOptions(With("tsd.memory.limit", "1073741824"))->raw_key_bytes_max == 134217728);
}

TEST_CASE(
    "request bodies may use six times the largest one, but at most half of the memory limit") {
  const auto bytes_max = [](const char* limit) {
    return ReadHttpOptions(With("tsd.memory.limit", limit))->request_memory_bytes_max;
  };
  CHECK(bytes_max("8589934592") == 1073741824);
  CHECK(bytes_max("1073741824") == 402653184);
  CHECK(bytes_max("268435456") == 134217728);
}

TEST_CASE("queries may use a quarter of the memory limit, and one query half of this") {
  Config config = With("tsd.memory.limit", "1073741824");
  CHECK(ReadQueryOptions(config)->memory_bytes_max == 268435456);
  CHECK(ReadQueryOptions(config)->query_memory_bytes_max == 134217728);
  CHECK(ReadQueryOptions(config)->large_bytes == 1 << 20);
  CHECK(ReadQueryOptions(config)->large_queries.width >= 1);
  config.Set("tsd.query.memory.limit", "1000000");
  CHECK(ReadQueryOptions(config)->query_memory_bytes_max == 500000);
  config.Set("tsd.query.memory.per_query", "7");
  config.Set("tsd.query.large.concurrent", "3");
  config.Set("tsd.query.large.waiting", "5");
  config.Set("tsd.query.large.wait", "9");
  CHECK(ReadQueryOptions(config)->memory_bytes_max == 1000000);
  CHECK(ReadQueryOptions(config)->query_memory_bytes_max == 7);
  CHECK(ReadQueryOptions(config)->large_queries.width == 3);
  CHECK(ReadQueryOptions(config)->large_queries.waiting_max == 5);
  CHECK(ReadQueryOptions(config)->large_queries.wait_max_ms == 9);
  config.Set("tsd.query.memory.limit", "0");
  CHECK(ReadQueryOptions(config)->memory_bytes_max == 0);
}

TEST_CASE("the smallest query is not large, however little memory queries may use") {
  // A query of one point holds 262,609 bytes: four tallies charge at least 64 KiB each. The limit
  // leaves room for twice as many.
  constexpr int64_t kSmallest = 8 * (64 << 10);
  for (const char* limit : {"33554432", "134217728", "268435456"})
    CHECK(ReadQueryOptions(With("tsd.memory.limit", limit))->large_bytes > kSmallest);
}

TEST_CASE("limits of queries reach the query options") {
  CHECK(ReadQueryOptions(With("tsd.query.timeout", "50"))->timeout_ms == 50);
  CHECK(ReadQueryOptions(With("tsd.query.limits.bytes.default", "6"))->bytes_max == 6);
  CHECK(ReadQueryOptions(With("tsd.query.limits.bytes.allow_override", "true"))
            ->bytes_override_allowed);
  CHECK(ReadQueryOptions(With("tsd.query.limits.data_points.default", "7"))->cells_max == 7);
  CHECK(ReadQueryOptions(With("tsd.query.limits.data_points.allow_override", "true"))
            ->cells_override_allowed);
  CHECK(ReadQueryOptions(With("tsd.query.limits.overrides.config", "/x"))->limits_file == "/x");
  CHECK(
      ReadQueryOptions(With("tsd.query.limits.overrides.interval", "8"))->limits_file_interval_s ==
      8);
  CHECK_FALSE(ReadQueryOptions(With("tsd.query.allow_simultaneous_duplicates", "false"))
                  ->simultaneous_duplicates);
  CHECK(ReadQueryOptions(With("tsd.query.skip_unresolved_tagvs", "true"))->skip_unresolved_tagvs);
  CHECK_FALSE(ReadQueryOptions(With("tsd.query.enable_fuzzy_filter", "false"))->fuzzy_filter);
  CHECK(*ReadSlowQueryMs(Config()) == 10'000);
  CHECK(*ReadSlowQueryMs(With("tsd.query.slow_log", "3")) == 3);
}

TEST_CASE("an invalid setting is refused with its key") {
  const auto refused = [](const Status& status, std::string_view key) {
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find(key) != std::string_view::npos);
  };
  for (const char* key : {"tsd.storage.uid.width.metric", "tsd.storage.uid.width.tagk",
                          "tsd.storage.uid.width.tagv", "tsd.storage.salt.width"})
    refused(ReadKeyLayout(With(key, "9")).status(), key);
  refused(ReadKeyLayout(With("tsd.storage.salt.buckets", "0")).status(),
          "tsd.storage.salt.buckets");
  refused(ReadHttpOptions(With("tsd.network.port", "65536")).status(), "tsd.network.port");
  refused(ReadQueryOptions(With("tsd.query.timeout", "soon")).status(), "tsd.query.timeout");
  for (const char* key :
       {"tsd.query.memory.limit", "tsd.query.memory.per_query", "tsd.query.large.concurrent",
        "tsd.query.large.waiting", "tsd.query.large.wait"})
    refused(ReadQueryOptions(With(key, "-1")).status(), key);
  refused(ReadSlowQueryMs(With("tsd.query.slow_log", "-1")).status(), "tsd.query.slow_log");
  refused(ReadIngestOptions(With("tsd.storage.max_tags", "-1")).status(), "tsd.storage.max_tags");
  refused(ReadIngestOptions(With("tsd.ingest.max_tags", "0")).status(), "tsd.ingest.max_tags");
}

TEST_CASE("only the exact texts in the settings enable the API, the pages and the remote stop") {
  CHECK_FALSE(ReadHttpOptions(With("tsd.core.enable_api", "yes"))->api_enabled);
  CHECK_FALSE(ReadHttpOptions(With("tsd.core.enable_ui", "TRUE"))->ui_enabled);
  CHECK_FALSE(ReadHttpOptions(With("tsd.no_diediedie", "0"))->diediedie_enabled);
  CHECK(ReadHttpOptions(Config())->api_enabled);
  CHECK(ReadHttpOptions(Config())->diediedie_enabled);
}

TEST_CASE("an unknown tsd.mode means read and write") {
  CHECK(ReadHttpOptions(With("tsd.mode", "ro"))->mode == http::Mode::kReadOnly);
  CHECK(ReadHttpOptions(With("tsd.mode", "wo"))->mode == http::Mode::kWriteOnly);
  CHECK(ReadHttpOptions(With("tsd.mode", "x"))->mode == http::Mode::kReadWrite);
}

TEST_CASE("extra name characters are read as ISO-8859-1, and blanks around them are removed") {
  CHECK(ReadIngestOptions(With("tsd.core.tag.allow_specialchars", "  : \xe9 "))
            ->extra_name_characters == ": \xc3\xa9");
}

TEST_CASE("table names come from the settings, and rollups add their tables") {
  Config config = With("tsd.storage.hbase.data_table", "points");
  CHECK(DescribeTables(config)->size() == 4);
  config.Set("tsd.rollups.enable", "true");
  config.Set("tsd.rollups.config",
             R"({"intervals":[{"table":"points","preAggregationTable":"pre"},{"table":"r1h"}]})");
  const auto tables = DescribeTables(config);
  REQUIRE(tables.ok());
  std::vector<std::string> names;
  for (const TableDescriptor& table : *tables) {
    names.push_back(table.name);
    CHECK(table.points == (table.name == "points"));
  }
  CHECK(names ==
        std::vector<std::string>{"tsdb-uid", "points", "tsdb-tree", "tsdb-meta", "pre", "r1h"});
  config.Set("tsd.rollups.config", "{");
  CHECK(DescribeTables(config).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("allowed plot options are separated by semicolons, and an empty list is kept") {
  CHECK(ReadHttpOptions(Config())->graph_options == http::Options().graph_options);
  CHECK(ReadHttpOptions(With("tsd.gnuplot.options.allowlist", "a;b c"))->graph_options ==
        std::vector<std::string>{"a", "b c"});
}

TEST_CASE("socket options follow the settings") {
  CHECK(ReadHttpOptions(Config())->tcp_no_delay);
  CHECK_FALSE(ReadHttpOptions(With("tsd.network.tcp_no_delay", "false"))->tcp_no_delay);
  CHECK_FALSE(ReadHttpOptions(With("tsd.network.keep_alive", "false"))->keep_alive);
  CHECK_FALSE(ReadHttpOptions(With("tsd.network.reuse_address", "0"))->reuse_address);
}

TEST_CASE("allowed origins are listed, or all, and headers must be names") {
  const auto refused = [](const char* key, const char* value) {
    return ReadHttpOptions(With(key, value)).status().code() == StatusCode::kInvalidArgument;
  };
  CHECK(ReadHttpOptions(With("tsd.http.request.cors_domains", "http://a, http://b"))
            ->cors_domains.size() == 2);
  CHECK(ReadHttpOptions(With("tsd.http.request.cors_domains", "*")).ok());
  CHECK(refused("tsd.http.request.cors_domains", "*,http://a"));
  CHECK(refused("tsd.http.request.cors_headers", "X-A: 1"));
  CHECK(ReadHttpOptions(With("tsd.http.request.hosts", "tsd.example.org, tsd"))->hosts ==
        std::vector<std::string>{"tsd.example.org", "tsd"});
  CHECK(ReadHttpOptions(With("tsd.http.request.hosts", "*")).ok());
  CHECK(refused("tsd.http.request.hosts", "http://tsd.example.org"));
  CHECK(refused("tsd.http.request.hosts", "tsd.example.org:4242"));
  CHECK(refused("tsd.http.request.cors_headers", "X-A, b c"));
}

TEST_CASE("a daemon with authentication does not start without users") {
  CHECK(ReadUsersFile(Config())->empty());
  Config config = With("tsd.core.authentication.enable", "true");
  const Status refused = ReadUsersFile(config).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("tsd.core.authentication.users") != std::string_view::npos);
  config.Set("tsd.core.authentication.users", "/etc/users");
  CHECK(*ReadUsersFile(config) == "/etc/users");
  config.Set("tsd.core.authentication.enable", "false");
  CHECK(ReadUsersFile(config)->empty());
}

TEST_CASE("a daemon does not start if authentication is neither on nor off") {
  Config config = With("tsd.core.authentication.users", "/etc/users");
  for (const char* value : {"on", "enabled", "true # guard", "\"true\"", "2"}) {
    CAPTURE(value);
    config.Set("tsd.core.authentication.enable", value);
    const Status refused = ReadUsersFile(config).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find("tsd.core.authentication.enable = \"" + std::string(value) +
                                 "\"") != std::string_view::npos);
  }
  for (const char* value : {"1", "TRUE", "yes", " true "}) {
    config.Set("tsd.core.authentication.enable", value);
    CHECK(*ReadUsersFile(config) == "/etc/users");
  }
  for (const char* value : {"0", "False", "no", "Off", "", " "}) {
    config.Set("tsd.core.authentication.enable", value);
    CHECK(ReadUsersFile(config)->empty());
  }
}

TEST_CASE("TLS settings must be complete") {
  CHECK(ReadHttpOptions(Config())->tls.certificate_file.empty());
  const auto refused = [](const Config& config, std::string_view word) {
    const Status status = ReadHttpOptions(config).status();
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find(word) != std::string_view::npos);
  };
  for (const char* key : {"tsd.network.tls.key", "tsd.network.tls.bind",
                          "tsd.network.tls.authorities", "tsd.network.tls.revoked"})
    refused(With(key, "x"), key);
  refused(With("tsd.network.tls.port", "4243"), "tsd.network.tls.certificate");
  refused(With("tsd.network.tls.clients", "required"), "tsd.network.tls.certificate");
  Config config = With("tsd.network.tls.certificate", "server.pem");
  refused(config, "tsd.network.tls.key");
  config.Set("tsd.network.tls.key", "server.key");
  CHECK(ReadHttpOptions(config)->tls.key_file == "server.key");
  CHECK_FALSE(ReadHttpOptions(config)->tls.port.has_value());
  config.Set("tsd.network.tls.bind", "0.0.0.0");
  refused(config, "tsd.network.tls.port");
  config.Set("tsd.network.tls.port", "4243");
  CHECK(ReadHttpOptions(config)->tls.port == 4243);
  config.Set("tsd.network.tls.revoked", "revoked.pem");
  refused(config, "tsd.network.tls.clients");
  config.Set("tsd.network.tls.clients", "sometimes");
  refused(config, "sometimes");
  config.Set("tsd.network.tls.clients", "optional");
  refused(config, "tsd.network.tls.authorities");
  config.Set("tsd.network.tls.authorities", "authority.pem");
  CHECK(ReadHttpOptions(config)->tls.clients == http::ClientCertificates::kOptional);
  CHECK(ReadHttpOptions(config)->tls.revoked_file == "revoked.pem");
}

TEST_CASE("ports without authentication are not opened with authentication, unless allowed") {
  for (const char* port : {"tsd.graphite.port", "tsd.graphite.pickle.port"}) {
    for (const auto& [guard, value] : {std::pair("tsd.core.authentication.enable", "true"),
                                       std::pair("tsd.network.tls.clients", "required")}) {
      CAPTURE(port);
      CAPTURE(guard);
      Config config = With(port, "2003");
      CHECK(CheckAnonymousPorts(config).ok());
      config.Set(guard, value);
      const Status refused = CheckAnonymousPorts(config);
      CHECK(refused.code() == StatusCode::kInvalidArgument);
      for (const char* word : {port, guard, "tsd.graphite.anonymous"})
        CHECK(refused.message().find(word) != std::string_view::npos);
      config.Set("tsd.graphite.anonymous", "true");
      CHECK(CheckAnonymousPorts(config).ok());
    }
  }
  CHECK(CheckAnonymousPorts(With("tsd.core.authentication.enable", "true")).ok());
}

TEST_CASE("the port of the Thrift2 protocol is off, and on the loopback address if it is on") {
  CHECK_FALSE(*ReadThrift2Options(Config()));
  Config config = With("tsd.thrift2.port", "9090");
  config.Set("tsd.memory.limit", std::to_string(uint64_t{8} << 30));
  const auto options = ReadThrift2Options(config);
  REQUIRE(options.ok());
  REQUIRE(*options);
  CHECK((*options)->port == 9090);
  CHECK((*options)->bind == "127.0.0.1");
  CHECK((*options)->memory_bytes_max == int64_t{1} << 30);
  config.Set("tsd.memory.limit", std::to_string(64 << 20));
  const auto small = ReadThrift2Options(config);
  CHECK((*small)->memory_bytes_max == 64 << 20);
  CHECK((*small)->response_bytes_max == 32 << 20);
  CHECK_FALSE(ReadThrift2Options(With("tsd.thrift2.port", "70000")).ok());
  config.Set("tsd.storage.backend", "hbase");
  CHECK(ReadThrift2Options(config).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("write limits are off by default, and invalid numbers are refused") {
  CHECK_FALSE(ReadWriteLimits(Config())->client.any());
  CHECK_FALSE(ReadWriteLimits(Config())->metric.any());
  CHECK(ReadWriteLimits(With("tsd.limits.client.points", "1"))->client.points_per_s == 1);
  CHECK(ReadWriteLimits(With("tsd.limits.client.series", "2"))->client.new_series_per_hour == 2);
  CHECK(ReadWriteLimits(With("tsd.limits.metric.points", "3"))->metric.points_per_s == 3);
  CHECK(ReadWriteLimits(With("tsd.limits.metric.series", "4"))->metric.series_max == 4);
  CHECK_FALSE(ReadWriteLimits(With("tsd.limits.metric.series", "few")).ok());
}

TEST_CASE("caches of names have the configured size, and tsd.mode decides what they contain") {
  CHECK(ReadNamesOptions(Config())->cache.ids_max == 0);
  Config sized = With("tsd.uid.lru.id.size", "10");
  CHECK(ReadNamesOptions(sized)->cache.ids_max == 0);
  sized.Set("tsd.uid.lru.enable", "true");
  CHECK(ReadNamesOptions(sized)->cache.ids_max == 10);
  CHECK(ReadNamesOptions(sized)->cache.names_max == 5000000);
  Config reader = With("tsd.mode", "ro");
  CHECK(ReadNamesOptions(reader)->cache.ids);
  reader.Set("tsd.uid.use_mode", "true");
  CHECK_FALSE(ReadNamesOptions(reader)->cache.ids);
  CHECK(ReadNamesOptions(reader)->cache.names);
  Config writer = With("tsd.mode", "wo");
  writer.Set("tsd.uid.use_mode", "true");
  CHECK_FALSE(ReadNamesOptions(writer)->cache.names);
}

TEST_CASE("names are preloaded only if the setting says so") {
  CHECK_FALSE(ReadPreloadedRows(Config())->has_value());
  Config config = With("tsd.core.preload_uid_cache", "true");
  CHECK(**ReadPreloadedRows(config) == 300000);
  config.Set("tsd.core.preload_uid_cache.max_entries", "7");
  CHECK(**ReadPreloadedRows(config) == 7);
}

TEST_CASE(
    "new names pass the built-in filter, and a filter without plug-in or with a bad pattern "
    "is refused") {
  CHECK(*ReadNameFilter(Config()) == nullptr);
  Config config = With("tsd.uidfilter.enable", "true");
  CHECK(ReadNameFilter(config).status().code() == StatusCode::kInvalidArgument);
  config.Set("tsd.uidfilter.plugin", "net.opentsdb.uid.UniqueIdWhitelistFilter");
  config.Set("tsd.uidfilter.whitelist.metric_patterns", "^sys,cpu");
  const auto filter = ReadNameFilter(config);
  REQUIRE(filter.ok());
  CHECK((*filter)->Allows(UidKind::kMetric, "sys.cpu"));
  CHECK_FALSE((*filter)->Allows(UidKind::kMetric, "sys.mem"));
  config.Set("tsd.uidfilter.whitelist.tagv_patterns", "(");
  CHECK(ReadNameFilter(config).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("the settings reach the query options") {
  const auto options = [](std::string_view key, std::string_view value) {
    return *ReadQueryOptions(With(key, value));
  };
  CHECK(options("tsd.query.filter.expansion_limit", "9").filter_expansion_limit == 9);
  CHECK(options("tsd.query.skip_unresolved_tagvs", "true").skip_unresolved_tagvs);
  CHECK_FALSE(options("tsd.query.enable_fuzzy_filter", "false").fuzzy_filter);
  CHECK_FALSE(options("tsd.query.allow_simultaneous_duplicates", "false").simultaneous_duplicates);
  CHECK(options("tsd.http.query.allow_delete", "true").delete_allowed);
  CHECK(options("tsd.core.meta.enable_tsuid_tracking", "true").tsuid_tracking);
  CHECK(options("tsd.core.meta.enable_tsuid_incrementing", "true").tsuid_incrementing);
  CHECK(options("tsd.storage.fix_duplicates", "true").reconcile.fix_duplicates);
  CHECK(options("tsd.storage.hbase.scanner.maxNumRows", "9").batch_rows == 9);
  CHECK(options("tsd.core.timezone", "UTC").timezone == "UTC");
  CHECK(options("tsd.rollups.split_query.enable", "true").split_rollups);
  CHECK(options("tsd.rollups.agg_tag_key", "agg").aggregate_key == "agg");
  CHECK(options("tsd.rollups.raw_agg_tag_value", "PLAIN").raw_aggregate == "PLAIN");
}

TEST_CASE("the settings reach the ingest options") {
  CHECK(ReadIngestOptions(With("tsd.core.auto_create_metrics", "true"))->auto_create_metrics);
  CHECK_FALSE(ReadIngestOptions(With("tsd.core.auto_create_tagks", "false"))->auto_create_tagks);
  CHECK_FALSE(ReadIngestOptions(With("tsd.core.auto_create_tagvs", "false"))->auto_create_tagvs);
  CHECK(ReadSeriesTrackerOptions(With("tsd.core.meta.enable_realtime_ts", "true")).realtime_ts);
  Config random = With("tsd.core.uid.random_metrics", "true");
  CHECK(ReadNamesOptions(random)->random_metrics);
  random.Set("tsd.storage.uid.width.metric", "8");
  CHECK(ReadNamesOptions(random).status().code() == StatusCode::kInvalidArgument);
  CHECK(ReadHttpOptions(With("tsd.stats.canonical", "true"))->stats_canonical);
  CHECK(ReadHttpOptions(With("tsd.core.stats_with_port", "true"))->stats_with_port);
}

TEST_CASE("an invalid time zone or rollup configuration is refused at the start") {
  const Status zone = ReadQueryOptions(With("tsd.core.timezone", "Nowhere/Else")).status();
  CHECK(zone.code() == StatusCode::kInvalidArgument);
  CHECK(zone.message().find("Nowhere/Else") != std::string_view::npos);
  CHECK(ReadRollupOptions(With("tsd.rollups.enable", "true")).status().code() ==
        StatusCode::kInvalidArgument);
  CHECK_FALSE(ReadRollupOptions(With("tsd.rollups.config", "{}"))->has_value());
}

TEST_CASE("JSON settings may be in a file") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("settings_test." + std::to_string(getpid()) + ".json");
  std::ofstream(path) << R"({"net.opentsdb.core.SimpleHistogramDecoder": 42})";
  CHECK(ReadHttpOptions(With("tsd.core.histograms.config", path.string()))->histogram_codec_id ==
        uint8_t{42});
  std::filesystem::remove(path);
  const Status gone = ReadHttpOptions(With("tsd.core.histograms.config", path.string())).status();
  CHECK(gone.code() == StatusCode::kIoError);
  CHECK(gone.message().find(path.string()) != std::string_view::npos);
}

Config Automatic(const std::string& intervals) {
  Config config;
  config.Set("tsd.rollups.enable", "true");
  config.Set("tsd.rollups.automatic", "true");
  config.Set("tsd.rollups.config",
             R"({"aggregationIds":{"sum":0,"count":1,"min":2,"max":3},"intervals":[)" + intervals +
                 R"({"table":"tsdb","preAggregationTable":"p","interval":"1m","rowSpan":"1h",)" +
                 R"("defaultInterval":true}]})");
  return config;
}
std::string RollupInterval(const std::string& interval, const std::string& span) {
  return R"({"table":"t)" + interval + R"(","preAggregationTable":"p","interval":")" + interval +
         R"(","rowSpan":")" + span + R"("},)";
}

TEST_CASE(
    "the settings of automatic rollups are read, and the error for an invalid one names its "
    "key or value") {
  CHECK_FALSE(ReadAutomaticRollups(Config())->has_value());
  Config good = Automatic(RollupInterval("10m", "6h") + RollupInterval("1h", "1d") +
                          RollupInterval("1d", "1n"));
  good.Set("tsd.rollups.automatic.delay", "60");
  const auto rollups = ReadAutomaticRollups(good);
  REQUIRE(rollups.ok());
  CHECK((*rollups)->delay_s == 60);
  CHECK((*rollups)->ids.max == 3);
  CHECK((*rollups)->state_table == "tsdb-rollups");
  const auto described = DescribeTables(good);
  REQUIRE(described.ok());
  CHECK(described->back().name == "tsdb-rollups");

  const auto refusal = [](Config config, const char* key = nullptr, const char* value = nullptr) {
    if (key != nullptr) config.Set(key, value);
    return std::string(ReadAutomaticRollups(config).status().message());
  };
  const auto has = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(refusal(good, "tsd.rollups.enable", "false"), "tsd.rollups.enable");
  has(refusal(good, "tsd.storage.backend", "hbase"), "hbase");
  has(refusal(good, "tsd.storage.ttl", "86400"), "86400");
  has(refusal(good, "tsd.rollups.automatic.delay", "-1"), "-1");
  has(refusal(Automatic("")), "in addition to the default");
  has(refusal(Automatic(RollupInterval("7m", "6h"))), "\"7m\"");
  has(refusal(Automatic(RollupInterval("90m", "1d"))), "\"90m\"");
  has(refusal(Automatic(RollupInterval("4h", "50h"))), "\"4h\"");
  has(refusal(Automatic(RollupInterval("1h", "1d") +
                        R"({"table":"t1h","preAggregationTable":"p",)" +
                        R"("interval":"1d","rowSpan":"1n"},)")),
      "used twice");
  Config without = good;
  without.Set("tsd.rollups.config",
              R"({"aggregationIds":{"sum":0,"count":1,"min":2},"intervals":[)"
              R"({"table":"t","preAggregationTable":"p","interval":"1h","rowSpan":"1d"},)"
              R"({"table":"tsdb","preAggregationTable":"p","interval":"1m","rowSpan":"1h",)"
              R"("defaultInterval":true}]})");
  has(refusal(without), "\"max\"");
}

}  // namespace
}  // namespace hg::tsd
