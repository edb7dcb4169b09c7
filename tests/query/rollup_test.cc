#include "query/plan/rollup.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::query {
namespace {

codec::RollupLevel Level(const char* name, uint32_t interval_s, codec::RollupSpanUnit unit,
                         bool is_default = false) {
  codec::RollupLevel level;
  level.name = name;
  level.interval = {interval_s, unit, 1, codec::RollupIntervalsPerRow(interval_s, unit, 1)};
  level.is_default = is_default;
  return level;
}

codec::RollupTables Tables() {
  codec::RollupTables tables;
  tables.aggregator_ids = {{"sum", 0}, {"count", 1}, {"min", 2}};
  tables.levels = {Level("1m", 60, codec::RollupSpanUnit::kHours, true),
                   Level("1h", 3600, codec::RollupSpanUnit::kDays),
                   Level("1d", 86400, codec::RollupSpanUnit::kMonths)};
  return tables;
}

TEST_CASE("a rollup is selected by the interval and the usage") {
  const codec::RollupTables tables = Tables();
  struct Case {
    const char *downsample, *usage, *levels;
    bool then_raw;
  };
  for (const Case& c : {Case{"1h-sum", "", "1h ", false},
                        {"2h-sum", "bogus", "1h ", false},
                        {"2d-sum", "", "1d ", false},
                        {"2d-sum", "rollup_fallback", "1d 1h ", true},
                        {"2d-sum", "ROLLUP_FALLBACK_RAW", "1d ", true},
                        {"2d-sum", "rollup_raw", "", false},
                        {"90m-dev", "", "", false},
                        {"90s-sum", "", "", false},
                        {"0all-sum", "", "", false}}) {
    CAPTURE(c.downsample);
    CAPTURE(c.usage);
    SubQuery text;
    text.rollup_usage = c.usage;
    const auto downsample = ParseDownsample(c.downsample);
    REQUIRE(downsample.ok());
    const auto plan = PlanRollup(tables, text, &*downsample);
    REQUIRE(plan.ok());
    std::string levels;
    for (const auto* level : plan->levels) levels += level->name + " ";
    CHECK(levels == c.levels);
    CHECK(plan->then_raw == c.then_raw);
  }
}

TEST_CASE("a function needs its stored aggregate, and an average needs sum and count") {
  codec::RollupTables tables = Tables();
  const auto plan = [&](const char* text) {
    const auto downsample = ParseDownsample(text);
    return PlanRollup(tables, {}, &*downsample);
  };
  CHECK(plan("1h-mimmin")->stored.id == 2);
  CHECK(plan("1h-zimsum")->function->name == "sum");
  CHECK(plan("1h-count")->function->name == "sum");
  CHECK(plan("1h-avg")->average);
  CHECK(plan("1h-avg")->count.id == 1);
  CHECK(plan("1h-dev").status().message() == "No ID found mapping to aggregator: dev");
  CHECK(plan("1h-p95").status().message() == "No ID found mapping to aggregator: p95");
  CHECK(plan("500ms-sum").status().code() == StatusCode::kUnsupported);
  tables.aggregator_ids.erase("count");
  CHECK(plan("1h-avg").status().message() == "No ID found mapping to aggregator: avg");
}

TEST_CASE(
    "a scan of rollups covers the rows from the start to the end, and for a rate one row "
    "before them") {
  const codec::RollupTables tables = Tables();
  const codec::RollupInterval& hourly = tables.levels[1].interval;
  constexpr int64_t kDay = 86400;
  constexpr int64_t kStart = 19676 * kDay;
  const ScanWindow window =
      PlanRollupScan((kStart + 5000) * 1000, (kStart + 9000) * 1000, false, hourly);
  CHECK(window == ScanWindow{kStart, kStart + kDay});
  CHECK(PlanRollupScan((kStart + 5000) * 1000, (kStart + 9000) * 1000, true, hourly).begin_s ==
        kStart - kDay);
}

TEST_CASE("a rollup usage has the name that OpenTSDB gives it, and an unknown one is the default") {
  CHECK(RollupUsageName("rollup_raw") == "ROLLUP_RAW");
  CHECK(RollupUsageName("Rollup_Fallback_Raw") == "ROLLUP_FALLBACK_RAW");
  CHECK(RollupUsageName("x") == "ROLLUP_NOFALLBACK");
}

TEST_CASE("pre-aggregates are selected by the flag or by a literal of the aggregate tag") {
  SubQuery text;
  CHECK_FALSE(AsksForPreAggregates(text, "_aggregate", "RAW"));
  text.filters = {{"literal_or", "_aggregate", "RAW", false, false}};
  CHECK_FALSE(AsksForPreAggregates(text, "_aggregate", "RAW"));
  text.filters.Edit()[0].filter = "SUM|MAX";
  CHECK(AsksForPreAggregates(text, "_aggregate", "RAW"));
  text.filters.Edit()[0].tagk = "host";
  CHECK_FALSE(AsksForPreAggregates(text, "_aggregate", "RAW"));
  text.pre_aggregate = true;
  CHECK(AsksForPreAggregates(text, "_aggregate", "RAW"));
}

}  // namespace
}  // namespace hg::query
