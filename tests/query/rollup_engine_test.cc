// Rollup tables read by the engine: the older form of qualifiers, and queries that are split where
// rollups may be missing (opentsdb-queries.md §14.5).

#include <doctest/doctest.h>

#include "storage/codec/rollup.h"
#include "tests/query/engine_fixture.h"

namespace hg::query {
namespace {

constexpr int64_t kMidnight = 1499990400;  // midnight; the fixture's clock is at 05:26:40
constexpr int64_t kAnHour = 3600;

Options WithHourlyRollups(int64_t delay_s) {
  Options options = EngineFixture::UtcOptions();
  codec::RollupTables tables;
  tables.aggregator_ids = {{"sum", 0}, {"count", 1}};
  codec::RollupLevel raw;
  raw.name = "1m";
  raw.table = "tsdb";
  raw.interval = {60, codec::RollupSpanUnit::kHours, 1, 60};
  raw.is_default = true;
  codec::RollupLevel hourly;
  hourly.name = "1h";
  hourly.table = "hourly";
  hourly.interval = {3600, codec::RollupSpanUnit::kDays, 1, 24};
  hourly.delay_s = delay_s;
  tables.levels = {raw, hourly};
  options.rollups = tables;
  options.split_rollups = true;
  return options;
}

class RollupFixture : public EngineFixture {
 public:
  explicit RollupFixture(int64_t delay_s = 0) : EngineFixture(WithHourlyRollups(delay_s)) {
    REQUIRE(store.CreateTable({"hourly", {{"t"}}, false}).ok());
  }

  /// A one-byte value under `aggregate` (the byte of an id, or a name with its colon).
  void PutRollup(const std::string& host, const Bytes& aggregate, int hour, int value) {
    Bytes key = Id(UidKind::kMetric, "m");
    AppendBig(&key, kMidnight, 4);
    key += Id(UidKind::kTagk, "host") + Id(UidKind::kTagv, host);
    Bytes qualifier = aggregate;
    AppendBig(&qualifier, static_cast<uint64_t>(hour) << 4, 2);
    REQUIRE(store.Mutate("hourly", {{key, {PutCell("t", qualifier, {static_cast<char>(value)})}}})
                .ok());
  }

  static SubQuery Downsampled(const std::string& downsample, bool by_host = false) {
    SubQuery query = Ask("sum", "m");
    query.downsample = downsample;
    if (by_host) query.filters.push_back({"wildcard", "host", "*", true});
    return query;
  }
};

const Bytes kSum(1, '\0');
const Bytes kCount(1, '\1');

TEST_CASE("rollup cells of the older form are read together with those of the newer form") {
  RollupFixture f;
  f.PutRollup("a", "sum:", 1, 7);
  f.PutRollup("a", kSum, 2, 8);
  f.PutRollup("a", "count:", 1, 2);
  f.PutRollup("a", "SUM:", 3, 9);  // no form has a name in upper case
  f.PutRollup("a", kCount, 2, 4);
  CHECK(f.Text(f.Downsampled("1h-sum"), kMidnight, kMidnight + 4 * kAnHour) ==
        "host=a 1499994000:7.0 1499997600:8.0");
  CHECK(f.Text(f.Downsampled("1h-avg"), kMidnight, kMidnight + 4 * kAnHour) ==
        "host=a 1499994000:3.5 1499997600:2.0");
}

TEST_CASE("a series with other aggregates only is not a group, with or without explicit tags") {
  RollupFixture f;
  f.PutRollup("a", kSum, 1, 7);
  f.PutRollup("b", kCount, 1, 2);
  SubQuery query = f.Downsampled("1h-sum", true);
  CHECK(f.Text(query, kMidnight, kMidnight + 4 * kAnHour) == "host=a 1499994000:7.0");
  query.explicit_tags = true;
  CHECK(f.Text(query, kMidnight, kMidnight + 4 * kAnHour) == "host=a 1499994000:7.0");
}

TEST_CASE("with explicit tags the row after the window is read as an empty group") {
  RollupFixture f;
  f.PutRollup("a", kSum, 1, 7);
  SubQuery query = f.Downsampled("1h-sum", true);
  constexpr int64_t kDayBefore = kMidnight - 86400;
  CHECK(f.Text(query, kDayBefore, kDayBefore + kAnHour) == "");
  query.explicit_tags = true;
  CHECK(f.Text(query, kDayBefore, kDayBefore + kAnHour) == " ");
}

TEST_CASE("a rollup that is stored in both forms is a duplicate") {
  RollupFixture f;
  f.PutRollup("a", "sum:", 1, 7);
  f.PutRollup("a", kSum, 1, 8);
  CHECK(f.Text(f.Downsampled("1h-sum"), kMidnight, kMidnight + 4 * kAnHour).find("Duplicate") !=
        std::string::npos);
}

TEST_CASE("a query that reaches into delaySla reads raw points from there") {
  RollupFixture f(2 * kAnHour);
  for (int hour = 0; hour < 4; ++hour) f.PutRollup("a", kSum, hour, 100);
  for (int hour = 0; hour < 6; ++hour)
    f.Put("m", {{"host", "a"}}, kMidnight + hour * kAnHour, hour);
  f.Put("m", {{"host", "b"}}, kMidnight + 4 * kAnHour, 50);

  SUBCASE("rollups before, raw points after, and both for the hour between") {
    CHECK(f.Text(f.Downsampled("1h-sum", true), kMidnight, kMidnight + 5 * kAnHour) ==
          "host=a 1499990400:100.0 1499994000:100.0 1499997600:100.0 1500001200:100.0 "
          "1500001200:3.0 1500004800:4.0 1500008400:5.0 | host=b 1500004800:50.0");
  }
  SUBCASE("filters by value use raw points") {
    SubQuery query = f.Downsampled("1h-sum", true);
    query.value_filter = "> 2";
    CHECK(f.Text(query, kMidnight, kMidnight + 5 * kAnHour) ==
          "host=a 1500001200:3.0 1500004800:4.0 1500008400:5.0 | host=b 1500004800:50.0");
  }
  SUBCASE("without grouping, all series are one group") {
    CHECK(f.Text(f.Downsampled("1h-sum"), kMidnight + 2 * kAnHour, kMidnight + 5 * kAnHour) ==
          "host=a/host 1499997600:100.0 1500001200:100.0 1500001200:3.0 1500004800:54.0 "
          "1500008400:5.0");
  }
  SUBCASE("an end before the delay reads rollups only") {
    CHECK(f.Text(f.Downsampled("1h-sum", true), kMidnight, kMidnight + 3 * kAnHour) ==
          "host=a 1499990400:100.0 1499994000:100.0 1499997600:100.0 1500001200:100.0");
  }
  SUBCASE("a start within the delay reads raw points only") {
    CHECK(f.Text(f.Downsampled("1h-sum", true), kMidnight + 4 * kAnHour, kMidnight + 5 * kAnHour) ==
          "host=a 1500004800:4.0 1500008400:5.0 | host=b 1500004800:50.0");
  }
}

TEST_CASE(
    "a split query reports the failure of its raw part, and leaves no groups or those before") {
  RollupFixture f(2 * kAnHour);
  for (int hour = 0; hour < 4; ++hour) f.PutRollup("a", kSum, hour, 100);
  for (const std::string host : {"a", "b"})
    f.Put("m", {{"host", host}}, kMidnight + 4 * kAnHour, PointValue::Double(1.7e308));
  Request request;
  request.start = std::to_string(kMidnight);
  request.end = std::to_string(kMidnight + 5 * kAnHour);
  request.queries = {f.Downsampled("1h-sum")};
  const ValidQuery query = *f.engine.Validate(request, RequestContext::Unlimited());
  CHECK(f.engine.Run(query, {}).status().code() == StatusCode::kInvalidArgument);
  RunOptions run;
  run.on_failure = OnFailure::kLeaveNothing;
  const Result<Answer> nothing = f.engine.Run(query, run);
  REQUIRE(nothing.ok());
  CHECK(nothing->queries[0].failure.code() == StatusCode::kInvalidArgument);
  CHECK(nothing->groups.empty());
  run.on_failure = OnFailure::kLeaveWhatPrecedes;
  const Result<Answer> before = f.engine.Run(query, run);
  REQUIRE(before.ok());
  CHECK(before->queries[0].failure.code() == StatusCode::kInvalidArgument);
  REQUIRE(before->groups.size() == 1);
  CHECK(before->groups[0].points.size() == 4);
}

TEST_CASE("an interval without a delay is not split") {
  RollupFixture f(0);
  f.PutRollup("a", kSum, 1, 100);
  f.Put("m", {{"host", "a"}}, kMidnight + 5 * kAnHour, 1);
  CHECK(f.Text(f.Downsampled("1h-sum"), kMidnight, kMidnight + 5 * kAnHour) ==
        "host=a 1499994000:100.0");
}

}  // namespace
}  // namespace hg::query
