#include "tsd/ingest/rollup_ingest.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/http/edge_fixture.h"

namespace hg::tsd {
namespace {

struct RollupsFixture : http::EdgeFixture {
  static RollupIngestOptions Hourly() {
    RollupIngestOptions options;
    options.tables.aggregator_ids = {{"sum", 0}, {"avg", 5}};
    codec::RollupLevel raw;
    raw.name = "1m";
    raw.table = "tsdb";
    raw.pre_aggregate_table = "pre";
    raw.is_default = true;
    codec::RollupLevel hourly;
    hourly.name = "1h";
    hourly.table = "hourly";
    hourly.interval = {3600, codec::RollupSpanUnit::kDays, 1, 24};
    options.tables.levels = {raw, hourly};
    return options;
  }

  /// Returns the result of Put for a value of the metric.
  Status Put(std::string_view metric, std::string_view interval, std::string_view aggregator,
             std::optional<std::string_view> group_by = {}, std::string_view given = {}) {
    std::vector<TagText> tags = {{"host", "a"}};
    if (!given.empty()) tags.push_back({"_aggregate", given});
    NamedRollup rollup;
    rollup.metric = metric;
    rollup.tags = tags;
    rollup.time.raw = 1700006400;
    rollup.value = PointValue::Int(1);
    rollup.interval = interval;
    rollup.aggregator = aggregator;
    rollup.group_by = group_by.value_or("");
    rollup.group_by_given = group_by.has_value();
    return rollups.Put(rollup, WriteContext::Unlimited());
  }

  RollupIngest rollups{ingest, store, KeyLayout(), Hourly()};
};

}  // namespace

TEST_CASE_FIXTURE(
    RollupsFixture,
    "a rollup's names are checked before its interval, and its interval before its aggregate") {
  REQUIRE(store.CreateTable({"hourly", {{"t"}}, false}).ok());
  CHECK(Put("a b", "x", "").message().find("Invalid metric name") == 0);
  CHECK(Put("m", "x", "").code() == StatusCode::kUnsupported);
  CHECK(Put("m", "1h", "").message() == "Aggregator cannot be null or empty.");
  CHECK(Put("m", "1h", "p99").message() == "No ID found mapping to aggregator: p99");
  CHECK(Put("m", "", "sum").code() == StatusCode::kCorruption);
  CHECK(Put("m", "1h", "SUM").ok());
  CHECK(Put("m", "1h", "sum", "").message() ==
        "Cannot write a group by data point without specifying the aggregation function. "
        "Metric=m tags={host=a}");
}

TEST_CASE_FIXTURE(RollupsFixture,
                  "a group value with an aggregate tag of another aggregate is refused") {
  REQUIRE(store.CreateTable({"hourly", {{"t"}}, false}).ok());
  REQUIRE(store.CreateTable({"pre", {{"t"}}, false}).ok());
  CHECK(Put("m", "", "", "sum", "SUM").ok());
  CHECK(Put("m", "", "", "max", "SUM").message() ==
        "Given tag value for _aggregate of SUM did not match the group by aggregator of max for m "
        "{host=a, _aggregate=SUM}");
  CHECK(Put("m", "1h", "sum", {}, "RAW").message() ==
        "Given tag value for _aggregate of RAW did not match the group by aggregator of null for m "
        "{host=a, _aggregate=RAW}");
  // The tag with the aggregate key is checked before the name of the function ("foo").
  CHECK(Put("m", "1h", "sum", "foo", "SUM").message().find("Given tag value") == 0);
}

TEST_CASE_FIXTURE(RollupsFixture, "derived aggregates are refused, also for values of groups") {
  REQUIRE(store.CreateTable({"hourly", {{"t"}}, false}).ok());
  REQUIRE(store.CreateTable({"pre", {{"t"}}, false}).ok());
  CHECK(Put("m", "1h", "avg").message() ==
        "Derived rollup aggregations are not allowed AVG with metric m {host=a}");
  CHECK(Put("m", "", "avg", "sum").message() ==
        "Derived rollup aggregations are not allowed AVG with metric m {host=a}");
  CHECK(Put("m", "1h", "dev").message() == "No ID found mapping to aggregator: dev");
  // Without an interval, the id of the aggregate is not needed, so p99 is accepted.
  CHECK(Put("m", "", "p99", "sum").ok());
  CHECK(Put("m", "", "", "sum").ok());
}

}  // namespace hg::tsd
