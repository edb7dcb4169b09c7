#include "tsd/settings.h"

#include <doctest/doctest.h>

#include "tsd/tables.h"

namespace hg::tsd {
namespace {

Config With(std::string_view key, std::string_view value) {
  Config config;
  config.Set(key, value);
  return config;
}

TEST_CASE("default settings are the rooms' own defaults") {
  const Config config;
  CHECK(*ReadKeyLayout(config) == KeyLayout());
  const auto http = ReadHttpOptions(config);
  REQUIRE(http.ok());
  CHECK(http->port == http::Options().port);
  CHECK(http->bind == http::Options().bind);
  CHECK(http->body_bytes_max == http::Options().body_bytes_max);
  CHECK(http->backlog == http::Options().backlog);
  CHECK(http->cors_headers == http::Options().cors_headers);
  const auto queries = ReadQueryOptions(config);
  REQUIRE(queries.ok());
  CHECK(queries->filter_expansion_limit == query::Options().filter_expansion_limit);
  CHECK(queries->batch_rows == query::Options().batch_rows);
  CHECK(queries->limits_file_interval_s == query::Options().limits_file_interval_s);
  CHECK(ReadIngestOptions(config)->max_tags == IngestOptions().max_tags);
}

TEST_CASE("what limits connections and telnet replies reaches the edge") {
  CHECK(ReadHttpOptions(Config())->connections_max == 0);
  CHECK(ReadHttpOptions(Config())->idle_timeout_s == 0);
  CHECK(ReadHttpOptions(Config())->telnet_return_errors);
  CHECK(ReadHttpOptions(With("tsd.core.connections.limit", "7"))->connections_max == 7);
  CHECK(ReadHttpOptions(With("tsd.core.socket.timeout", "30"))->idle_timeout_s == 30);
  CHECK_FALSE(ReadHttpOptions(With("tsd.rpc.telnet.return_errors", "false"))->telnet_return_errors);
}

TEST_CASE("remembered spellings may take an eighth of the memory limit") {
  CHECK(ReadIngestOptions(With("tsd.memory.limit", "1073741824"))->spelling_bytes_max == 134217728);
}

TEST_CASE("queries may take a quarter of the memory limit, one query half of that") {
  Config config = With("tsd.memory.limit", "1073741824");
  CHECK(ReadQueryOptions(config)->memory_bytes_max == 268435456);
  CHECK(ReadQueryOptions(config)->query_memory_bytes_max == 134217728);
  CHECK(ReadQueryOptions(config)->large_bytes == 1 << 20);
  CHECK(ReadQueryOptions(config)->large_lane.width >= 1);
  config.Set("tsd.query.memory.limit", "1000000");
  CHECK(ReadQueryOptions(config)->query_memory_bytes_max == 500000);
  config.Set("tsd.query.memory.per_query", "7");
  config.Set("tsd.query.large.concurrent", "3");
  config.Set("tsd.query.large.waiting", "5");
  config.Set("tsd.query.large.wait", "9");
  CHECK(ReadQueryOptions(config)->memory_bytes_max == 1000000);
  CHECK(ReadQueryOptions(config)->query_memory_bytes_max == 7);
  CHECK(ReadQueryOptions(config)->large_lane.width == 3);
  CHECK(ReadQueryOptions(config)->large_lane.waiting_max == 5);
  CHECK(ReadQueryOptions(config)->large_lane.wait_max_ms == 9);
  config.Set("tsd.query.memory.limit", "0");
  CHECK(ReadQueryOptions(config)->memory_bytes_max == 0);
}

TEST_CASE("limits of queries reach the read path") {
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

TEST_CASE("a setting that cannot be is refused by its key") {
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
  refused(ReadHttpOptions(With("tsd.storage.max_tags", "0")).status(), "tsd.storage.max_tags");
  refused(ReadQueryOptions(With("tsd.query.timeout", "soon")).status(), "tsd.query.timeout");
  for (const char* key :
       {"tsd.query.memory.limit", "tsd.query.memory.per_query", "tsd.query.large.concurrent",
        "tsd.query.large.waiting", "tsd.query.large.wait"})
    refused(ReadQueryOptions(With(key, "-1")).status(), key);
  refused(ReadSlowQueryMs(With("tsd.query.slow_log", "-1")).status(), "tsd.query.slow_log");
  refused(ReadIngestOptions(With("tsd.storage.max_tags", "-1")).status(), "tsd.storage.max_tags");
}

TEST_CASE("only the very text switches API, pages and the remote stop") {
  CHECK_FALSE(ReadHttpOptions(With("tsd.core.enable_api", "yes"))->api_enabled);
  CHECK_FALSE(ReadHttpOptions(With("tsd.core.enable_ui", "TRUE"))->ui_enabled);
  CHECK_FALSE(ReadHttpOptions(With("tsd.no_diediedie", "0"))->diediedie_enabled);
  CHECK(ReadHttpOptions(Config())->api_enabled);
  CHECK(ReadHttpOptions(Config())->diediedie_enabled);
}

TEST_CASE("an unknown mode is read and write") {
  CHECK(ReadHttpOptions(With("tsd.mode", "ro"))->mode == http::Mode::kReadOnly);
  CHECK(ReadHttpOptions(With("tsd.mode", "wo"))->mode == http::Mode::kWriteOnly);
  CHECK(ReadHttpOptions(With("tsd.mode", "x"))->mode == http::Mode::kReadWrite);
}

TEST_CASE("extra name characters are read as ISO-8859-1 and trimmed of blanks outside only") {
  CHECK(ReadIngestOptions(With("tsd.core.tag.allow_specialchars", "  : \xe9 "))
            ->extra_name_characters == ": \xc3\xa9");
}

TEST_CASE("tables have the names of the settings, rollups bring theirs") {
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

}  // namespace
}  // namespace hg::tsd
