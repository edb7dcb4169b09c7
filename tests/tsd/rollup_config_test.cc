#include "tsd/rollup_config.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::tsd {
namespace {

std::string ConfigText(const std::string& intervals,
                       const std::string& ids = R"({"sum":0,"Count":1})") {
  return R"({"aggregationIds":)" + ids + R"(,"intervals":[)" + intervals +
         R"({"table":"t","preAggregationTable":"p","interval":"1m","rowSpan":"1h",)" +
         R"("defaultInterval":true}]})";
}

std::string Interval(const std::string& interval, const std::string& span) {
  return R"({"table":"a","preAggregationTable":"b","interval":")" + interval + R"(","rowSpan":")" +
         span + R"(","unknown":1},)";
}

TEST_CASE("rollup tables are parsed with their ids, intervals and spans") {
  const auto tables = ParseRollupConfig(ConfigText(Interval("10m", "6h") + Interval("1d", "1y")));
  REQUIRE(tables.ok());
  CHECK(tables->aggregator_ids.at("sum") == 0);
  CHECK(tables->aggregator_ids.at("count") == 1);
  CHECK(tables->Default().name == "1m");
  CHECK(tables->Default().table == "t");
  const codec::RollupLevel* ten = tables->Find("10m");
  REQUIRE(ten != nullptr);
  CHECK(ten->interval.interval_s == 600);
  CHECK(ten->interval.intervals_max == 36);
  CHECK(ten->pre_aggregate_table == "b");
  CHECK(tables->Find("1d")->interval.intervals_max == 366);
  CHECK(tables->Find("2h") == nullptr);
}

TEST_CASE("invalid rollup tables are refused") {
  struct Case {
    const char* what;
    std::string config;
  };
  for (const Case& c :
       {Case{"no JSON", "{"},
        {"no ids", R"({"intervals":[]})"},
        {"unknown function", ConfigText("", R"({"nosuch":0})")},
        {"id above 127", ConfigText("", R"({"sum":128})")},
        {"id twice", ConfigText("", R"({"sum":1,"max":1})")},
        {"interval twice", ConfigText(Interval("1m", "1h"))},
        {"odd hours", ConfigText(Interval("1m", "3h"))},
        {"two days", ConfigText(Interval("1h", "2d"))},
        {"unit", ConfigText(Interval("1h", "1w"))},
        {"too few", ConfigText(Interval("10m", "1h"))},
        {"too many", ConfigText(Interval("1s", "1d"))},
        {"two defaults",
         ConfigText(R"({"table":"a","preAggregationTable":"b","interval":"1h","rowSpan":"1d",)"
                    R"("defaultInterval":true},)")}}) {
    CAPTURE(c.what);
    CHECK(ParseRollupConfig(c.config).status().code() == StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace hg::tsd
