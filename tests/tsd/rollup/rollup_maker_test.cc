#include "tsd/rollup/rollup_maker.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <thread>

#include "storage/base/commit_later.h"
#include "tests/support/model_store.h"
#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

TEST_CASE_FIXTURE(Opened, "an interval is made once it is over, and read from then on") {
  Round();
  for (int minute = 0; minute < 150; ++minute)
    REQUIRE(world.PutInt("a", kMidnight + minute * 60, minute).ok());
  AdvanceTo(kMidnight + kHourS + 599);
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 3 * kHourS) == "raw");
  AdvanceTo(kMidnight + kHourS + 600);
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 3 * kHourS) == "1h");
  CHECK(Compare("10m-avg", kMidnight, kMidnight + 3 * kHourS) == "10m");
  CHECK(Compare("1d-max", kMidnight, kMidnight + 3 * kHourS) == "1h");
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(Compare("1d-max", kMidnight, kMidnight + 3 * kHourS) == "1d");
  CHECK(world.maker->Stats().lag_s == 0);
  AdvanceTo(kMidnight + 3 * kDayS);
  CHECK(world.maker->Stats().lag_s == 2 * kDayS - kHourS);
}

TEST_CASE_FIXTURE(Opened, "what only raw points tell is read from them") {
  for (int minute = 0; minute < 150; ++minute)
    REQUIRE(world.PutInt("a", kMidnight + minute * 60, minute).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  const int64_t end = kMidnight + kDayS - 1;
  CHECK(Compare("1h-sum", kMidnight, end) == "1h");
  for (const char* other : {"1h-p95", "1h-first", "1h-dev", "7m-sum", "0all-sum"}) {
    CAPTURE(other);
    CHECK(Compare(other, kMidnight, end) == "raw");
  }
  query::SubQuery query = RollupWorld::Query("1h-sum");
  query.rollup_usage = "ROLLUP_RAW";
  CHECK(world.Compare(query, kMidnight, end) == "raw");
  query.rollup_usage = "ROLLUP_NOFALLBACK";
  CHECK(world.Compare(query, kMidnight, end) == "1h");
  query.value_filter = "> 5";
  CHECK(world.Compare(query, kMidnight, end) == "raw");
}

TEST_CASE_FIXTURE(Opened, "cells are what OpenTSDB's reader expects of a rollup") {
  REQUIRE(world.PutInt("a", kMidnight + 5 * kHourS, 300).ok());
  REQUIRE(world.PutInt("a", kMidnight + 5 * kHourS + 1, -1).ok());
  REQUIRE(world.Put("m", "b", kMidnight + 5 * kHourS, PointValue::Double(0.1)).ok());
  Round();
  AdvanceTo(kMidnight + kDayS);
  Round();
  const auto cells = [&](const std::string& host) {
    const Bytes key = codec::MakeRowKey(world.store->points().layout(), *world.Tsuid("m", host),
                                        static_cast<uint32_t>(kMidnight));
    std::string out;
    const auto row = world.store->cells().Get("tsdb-1h", key);
    REQUIRE(row.ok());
    for (const Cell& cell : row->cells)
      out += ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value) + " ";
    return out;
  };
  CHECK(cells("a") == "000051=012B 010050=02 020050=FF 030051=012C ");
  CHECK(cells("b") ==
        "00005F=3FB999999999999A 010050=01 02005F=3FB999999999999A 03005F=3FB999999999999A ");
}

TEST_CASE_FIXTURE(Opened, "points of before the first start are rolled up, too, years apart") {
  for (const int64_t days : {4000, 2500, 2499, 40, 2, 1})
    for (int hour = 0; hour < 30; ++hour)
      REQUIRE(world.PutInt("a", kMidnight - days * kDayS + hour * kHourS, days + hour).ok());
  REQUIRE(world.Put("other", "a", kMidnight - kDayS, PointValue::Int(1)).ok());
  Round();
  CHECK(world.state->complete());
  CHECK(Compare("1d-sum", kMidnight - 4001 * kDayS, kMidnight) == "1d");
  CHECK(Compare("1h-avg", kMidnight - 4001 * kDayS, kMidnight) == "1h");
}

TEST_CASE_FIXTURE(Opened, "sums of integers beyond 2^53 are exact, and beyond 2^63 doubles") {
  constexpr int64_t kLarge = (int64_t{1} << 53) + 1;
  REQUIRE(world.PutInt("a", kMidnight, kLarge).ok());
  REQUIRE(world.PutInt("a", kMidnight + 1, kLarge).ok());
  REQUIRE(world.PutInt("b", kMidnight, INT64_MAX).ok());
  REQUIRE(world.PutInt("b", kMidnight + 1, INT64_MAX).ok());
  Round();
  AdvanceTo(kMidnight + 2 * kHourS);
  Round();
  const auto sum = [&](const std::string& host) {
    const Bytes key = codec::MakeRowKey(world.store->points().layout(), *world.Tsuid("m", host),
                                        static_cast<uint32_t>(kMidnight));
    const auto row = world.store->cells().Get("tsdb-1h", key);
    return ToHexUpper(row->cells[0].qualifier) + "=" + ToHexUpper(row->cells[0].value);
  };
  CHECK(sum("a") == "000007=0040000000000002");
  CHECK(sum("b") == "00000B=5F800000");  // 2^64
}

TEST_CASE_FIXTURE(Opened, "doubles of an hour are added as a query of raw points adds them") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> any(-1, 1e6);
  for (int i = 0; i < 700; ++i)
    REQUIRE(world.Put("m", "a", kMidnight + i * 10, PointValue::Double(any(random))).ok());
  Round();
  AdvanceTo(kMidnight + 3 * kHourS);
  SUBCASE("from memory") {}
  SUBCASE("from files, which have statistics") { REQUIRE(world.store->cells().Flush().ok()); }
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 2 * kHourS) == "1h");
  CHECK(Compare("10m-avg", kMidnight, kMidnight + 2 * kHourS) == "10m");
}

TEST_CASE_FIXTURE(Opened, "a late point costs one mark an hour, and is in the answer at once") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->marks() == 0);
  for (int i = 1; i < 50; ++i) {
    REQUIRE(world.PutInt("a", kMidnight + 5 * kHourS + i, 1).ok());
    REQUIRE(world.PutInt("late", kMidnight + 5 * kHourS + i, 1).ok());
  }
  CHECK(world.state->marks() == 1);
  const int64_t end = kMidnight + kDayS - 1;
  CHECK(Compare("1d-sum", kMidnight, end) == "1h");
  CHECK(Compare("1h-count", kMidnight, end) == "1h");
  Round();
  CHECK(world.state->marks() == 0);
  CHECK(world.maker->Stats().repaired == 1);
  CHECK(Compare("1d-sum", kMidnight, end) == "1d");
  CHECK(Compare("1h-count", kMidnight, end) == "1h");
  CHECK(world.Delete("late", kMidnight, kMidnight + kDayS).ok());
  CHECK(world.Delete("a", kMidnight + 7 * kHourS, kMidnight + 9 * kHourS).ok());
  CHECK(world.state->marks() == 3);
  CHECK(Compare("1d-min", kMidnight, end) == "1h");
  Round();
  CHECK(world.state->marks() == 0);
  CHECK(Compare("1d-min", kMidnight, end) == "1d");
}

TEST_CASE_FIXTURE(Opened,
                  "a mark stays while someone writes under it, and if someone wrote since") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(world.PutInt("a", kMidnight + 1, 5).ok());
  const auto before = world.state->Repairable(10);
  REQUIRE(before.size() == 1);
  const ChangedRows rows{before[0].metric, before[0].base};
  SUBCASE("wrote since") {
    REQUIRE(world.PutInt("a", kMidnight + 2, 5).ok());
    CHECK_FALSE(*world.state->Unmark(before[0]));
  }
  SUBCASE("writes") {
    REQUIRE(world.state->BeforeChange(rows).ok());
    CHECK(world.state->Repairable(10).empty());
    CHECK_FALSE(*world.state->Unmark(before[0]));
    world.state->AfterChange(rows);
    CHECK_FALSE(*world.state->Unmark(before[0]));
  }
  const auto now = world.state->Repairable(10);
  REQUIRE(now.size() == 1);
  CHECK(*world.state->Unmark(now[0]));
  CHECK(world.state->marks() == 0);
}

/// A second goes by whenever it is looked at.
class TickingClock : public ManualClock {
 public:
  using ManualClock::ManualClock;
  [[nodiscard]] int64_t MonotonicNs() const override { return ++seconds_ * 1'000'000'000; }
  void Pass(int64_t seconds) { seconds_ += seconds; }

 private:
  mutable std::atomic<int64_t> seconds_{0};
};

TEST_CASE("where points come late all the time their day is not made anew all the time") {
  FaultyFileSystem disk(1);
  TickingClock clock{kMidnight * 1000};
  RollupWorld world(disk, clock);
  REQUIRE(world.Open().ok());
  REQUIRE(world.maker->Round().ok());
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  clock.SetMs((kMidnight + kDayS + 600) * 1000);
  REQUIRE(world.maker->Round().ok());
  const auto late = [&](int second) {
    REQUIRE(world.PutInt("a", kMidnight + second, 1).ok());
    REQUIRE(world.Put("other", "a", kMidnight + second, PointValue::Int(1)).ok());
    REQUIRE(world.maker->Round().ok());
    return world.state->marks();
  };
  CHECK(late(1) == 0);
  CHECK(late(2) == 2);
  REQUIRE(world.PutInt("a", kMidnight - kDayS, 1).ok());  // another day
  CHECK(late(3) == 2);
  world.Compare(RollupWorld::Query("1h-sum"), kMidnight, kMidnight + kDayS - 1);
  clock.Pass(10'000);
  CHECK(late(4) == 0);
}

TEST_CASE_FIXTURE(Opened, "marks outlive the process") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(world.PutInt("a", kMidnight + 1, 5).ok());
  REQUIRE(world.Reopen().ok());
  CHECK(world.state->marks() == 1);
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1h");
  REQUIRE(world.PutInt("a", kMidnight + kHourS, 7).ok());
  CHECK(world.state->marks() == 2);
  Round();
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "of more late hours than there may be marks all is made anew") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  world.marks_max = 5;
  REQUIRE(world.Reopen().ok());
  for (int hour = 0; hour < 9; ++hour) {
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS + 1, 1).ok());
    Compare("1h-sum", kMidnight, kMidnight + kDayS - 1);
  }
  CHECK(world.state->marks() == 0);
  CHECK_FALSE(world.state->start());
  SUBCASE("by this process") {}
  SUBCASE("by the next one") { REQUIRE(world.Reopen().ok()); }
  CHECK(Compare("1h-sum", kMidnight, kMidnight + kDayS - 1) == "raw");
  Round();
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "who wrote without telling has everything made anew") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
  REQUIRE(world.Reopen().ok());
  REQUIRE(world.PutInt("a", kMidnight + 1, 100).ok());  // as if the other had
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "raw");
  Round();
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "an hour with an infinity has no rollups, and does not keep others") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  REQUIRE(world
              .Put("m", "b", kMidnight + kHourS,
                   PointValue::Double(std::numeric_limits<double>::infinity()))
              .ok());
  REQUIRE(world.PutInt("b", kMidnight + 2 * kHourS, 2).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->marks() == 1);
  CHECK(Compare("1h-min", kMidnight, kMidnight + kDayS - 1) == "1h");
  CHECK(Compare("1d-min", kMidnight, kMidnight + kDayS - 1) == "1h");
  Round();
  CHECK(world.state->marks() == 1);
  CHECK(world.Delete("b", kMidnight + kHourS, kMidnight + 2 * kHourS).ok());
  Round();
  CHECK(world.state->marks() == 0);
  CHECK(Compare("1d-min", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "annotations of series are in the answer") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  REQUIRE(world.Note("a", kMidnight + 3 * kHourS).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(world.Note("a", kMidnight + 7 * kHourS).ok());
  Round();
  CHECK(world.state->marks() == 2);
  query::Request request;
  request.start = std::to_string(kMidnight);
  request.end = std::to_string(kMidnight + kDayS - 1);
  request.queries = {RollupWorld::Query("1h-sum")};
  const auto answer = world.rolled->Run(*world.rolled->Validate(request), {});
  REQUIRE(answer.ok());
  CHECK(answer->queries[0].rollup_table == "1h");
  CHECK(answer->groups[0].annotations.size() == 2);
}

TEST_CASE_FIXTURE(Opened, "calendars are read from rollups that their buckets are made of") {
  for (int hour = 0; hour < 24 * 20; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + 21 * kDayS);
  Round();
  const int64_t end = kMidnight + 20 * kDayS;
  CHECK(Compare("1dc-sum", kMidnight, end) == "1d");
  CHECK(Compare("1wc-sum", kMidnight, end) == "1d");
  CHECK(Compare("1nc-sum", kMidnight, end) == "1d");
  const auto in_zone = [&](const char* zone) {
    const auto ask = [&](query::Engine& engine) {
      query::Request request;
      request.start = std::to_string(kMidnight);
      request.end = std::to_string(end);
      request.timezone = zone;
      request.use_calendar = true;
      request.queries = {RollupWorld::Query("1d-sum")};
      const auto valid = engine.Validate(request);
      REQUIRE(valid.ok());
      const auto answer = engine.Run(*valid, {});
      REQUIRE(answer.ok());
      return std::make_pair(query::Text(answer->groups[0].points), answer->queries[0].rollup_table);
    };
    CHECK(ask(*world.rolled).first == ask(*world.raw).first);
    return ask(*world.rolled).second;
  };
  CHECK(in_zone("Europe/Berlin") == "1h");
  CHECK(in_zone("Asia/Kolkata") == "10m");
}

TEST_CASE_FIXTURE(Opened,
                  "days of a zone whose clocks are changed inside of the range are rolled") {
  const int64_t start = kMidnight - 240 * kDayS;  // 20 March 2023; summer time begins on the 26th
  for (int hour = 0; hour < 24 * 12; ++hour)
    REQUIRE(world.PutInt("a", start + hour * kHourS, hour).ok());
  Round();
  for (const auto& [zone, table] :
       {std::pair("Europe/London", "1h"), std::pair("UTC", "1d"), std::pair("Asia/Tokyo", "1h")}) {
    CAPTURE(zone);
    const auto ask = [&, zone = zone](query::Engine& engine) {
      query::Request request;
      request.start = std::to_string(start);
      request.end = std::to_string(start + 12 * kDayS - 1);
      request.timezone = zone;
      request.use_calendar = true;
      request.queries = {RollupWorld::Query("1d-sum")};
      const auto answer = engine.Run(*engine.Validate(request), {});
      REQUIRE(answer.ok());
      return std::make_pair(query::Text(answer->groups[0].points), answer->queries[0].rollup_table);
    };
    CHECK(ask(*world.rolled).first == ask(*world.raw).first);
    CHECK(ask(*world.rolled).second == table);
  }
}

TEST_CASE_FIXTURE(Opened, "after a long stop all that is over is made") {
  Round();
  for (int hour = 0; hour < 40 * 24; hour += 5)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  AdvanceTo(kMidnight + 40 * kDayS + 5 * kHourS + 600);
  Round();
  CHECK(world.maker->Stats().lag_s <= 5 * kHourS + 600);
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 39 * kDayS) == "1h");
  CHECK(Compare("1d-avg", kMidnight, kMidnight + 40 * kDayS - 1) == "1d");
  CHECK(Compare("1h-sum", kMidnight + 40 * kDayS, kMidnight + 41 * kDayS) == "1h");
}

TEST_CASE("a clock that was set only later keeps nothing from being made") {
  FaultyFileSystem disk(1);
  ManualClock clock{5'000};  // 1970-01-01
  RollupWorld world(disk, clock);
  REQUIRE(world.Open().ok());
  REQUIRE(world.maker->Round().ok());
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  clock.SetMs((kMidnight + kDayS + 600) * 1000);
  REQUIRE(world.maker->Round().ok());
  const auto query = RollupWorld::Query("1d-sum", true);
  CHECK(world.Compare(query, kMidnight, kMidnight + kDayS - 1) == "1d");
  clock.SetMs((kMidnight - 3 * kDayS) * 1000);  // and back
  REQUIRE(world.maker->Round().ok());
  REQUIRE(world.PutInt("a", kMidnight + 7, 1000).ok());
  CHECK(world.Compare(query, kMidnight, kMidnight + kDayS - 1) == "1h");
  REQUIRE(world.maker->Round().ok());
  CHECK(world.Compare(query, kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "what is made anew has nothing of points that are gone") {
  for (int hour = 0; hour < 48; ++hour)
    for (const char* host : {"a", "b"})
      REQUIRE(world.PutInt(host, kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + 2 * kDayS + 600);
  Round();
  REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
  REQUIRE(world.Reopen().ok());
  REQUIRE(world.Delete("b", 0, kMidnight + 2 * kDayS).ok());
  REQUIRE(world.Delete("a", kMidnight, kMidnight + 5 * kHourS).ok());
  Round();
  CHECK(Compare("1h-sum", kMidnight, kMidnight + 2 * kDayS - 1) == "1h");
  CHECK(Compare("1d-count", kMidnight, kMidnight + 2 * kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "rollups of another configuration are made anew") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  SUBCASE("the same") {
    REQUIRE(world.Reopen().ok());
    CHECK(world.state->start());
    return;
  }
  SUBCASE("a row's span") {
    world.tables.levels[2].interval = {3600, codec::RollupSpanUnit::kMonths, 1, 744};
  }
  SUBCASE("a table") { world.tables.levels[2].table = "tsdb-2h"; }
  SUBCASE("ids of functions") {
    std::swap(world.tables.aggregator_ids["min"], world.tables.aggregator_ids["max"]);
  }
  SUBCASE("which of two values holds") { world.fix_duplicates = false; }
  SUBCASE("an interval less") { world.tables.levels.pop_back(); }
  REQUIRE(world.Reopen().ok());
  CHECK_FALSE(world.state->start());
  Round();
  CHECK(Compare("1h-min", kMidnight, kMidnight + kDayS - 1) == "1h");
  REQUIRE(world.Reopen().ok());
  CHECK(world.state->start());
}

TEST_CASE_FIXTURE(Opened, "tables of others, or of another interval, are refused by name") {
  const auto refused = [&](const std::string& table) {
    const Status opened = world.Reopen();
    CHECK(opened.code() == StatusCode::kInvalidArgument);
    CHECK(opened.message().find('"' + table + '"') != std::string::npos);
  };
  SUBCASE("others") {
    REQUIRE(world.store->cells().Mutate("tsdb-1h", {{"row", {PutCell("t", "q", "v")}}}).ok());
    refused("tsdb-1h");
  }
  SUBCASE("another interval") {
    Round();
    world.tables.levels[1].interval = {1800, codec::RollupSpanUnit::kHours, 6, 12};
    refused("tsdb-10m");
  }
}

TEST_CASE_FIXTURE(Opened, "an hour that cannot be read keeps no other from being rolled up") {
  world.fix_duplicates = false;
  REQUIRE(world.Reopen().ok());
  for (int hour = -48; hour < 48; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  // Of different lengths: two cells of one second.
  const auto twice = [&](int64_t at) {
    REQUIRE(world.PutInt("a", at, 1).ok());
    REQUIRE(world.PutInt("a", at, 100'000).ok());
  };
  twice(kMidnight - 19 * kHourS + 5);
  Round();
  twice(kMidnight + 29 * kHourS + 5);
  AdvanceTo(kMidnight + 2 * kDayS + 600);
  Round();
  CHECK(world.state->marks() == 2);
  CHECK(Compare("1h-sum", kMidnight - 2 * kDayS, kMidnight - 21 * kHourS) == "1h");
  CHECK(Compare("1h-sum", kMidnight - 17 * kHourS, kMidnight + 27 * kHourS) == "1h");
  CHECK(Compare("1h-sum", kMidnight + 31 * kHourS, kMidnight + 2 * kDayS - 1) == "1h");
  // Nobody made rollups of its points: they stay, and so do all behind them.
  const Bytes metric = world.Tsuid("m", "a")->substr(0, 3);
  CHECK(*world.state->KeepBefore(metric, kMidnight + 2 * kDayS) == kMidnight - kDayS);
  REQUIRE(world.Reopen().ok());
  CHECK(*world.state->KeepBefore(metric, kMidnight + 2 * kDayS) == kMidnight - kDayS);
}

TEST_CASE_FIXTURE(Opened,
                  "of the hour that fuzzy filters read beyond the end rollups do not count") {
  for (int hour = 0; hour < 24; ++hour)
    for (int minute = 0; minute < 60; minute += 20)
      REQUIRE(world.PutInt("a", kMidnight + hour * kHourS + minute * 60, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  for (const char* downsample : {"10m-sum", "1h-sum", "1h-count", "2h-max"}) {
    query::SubQuery query = RollupWorld::Query(downsample, true);
    query.explicit_tags = true;
    for (const int64_t end : {5 * kHourS, 6 * kHourS - 1, 6 * kHourS, 5 * kHourS + 1800})
      CHECK(world.Compare(query, kMidnight, kMidnight + end) != "raw");
  }
}

TEST_CASE_FIXTURE(Opened, "odd hours are no reason to make all anew") {
  for (int hour = 0; hour < 9; ++hour)
    REQUIRE(world
                .Put("m", "a", kMidnight + hour * kHourS,
                     PointValue::Double(std::numeric_limits<double>::infinity()))
                .ok());
  world.marks_max = 2;
  REQUIRE(world.Reopen().ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->marks() == 9);
  for (int hour = 10; hour < 12; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  CHECK(world.state->marks() == 11);
  CHECK(world.state->start());
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());  // one that was odd
  CHECK(world.state->start());
  REQUIRE(world.PutInt("a", kMidnight + 12 * kHourS, 1).ok());
  CHECK_FALSE(world.state->start());
}

TEST_CASE_FIXTURE(Opened, "odd hours of a process before are no reason to make all anew, either") {
  for (int hour = 0; hour < 9; ++hour) REQUIRE(world.Note("a", kMidnight + hour * kHourS).ok());
  world.marks_max = 2;
  REQUIRE(world.Reopen().ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->marks() == 9);
  REQUIRE(world.Reopen().ok());
  for (const int hour : {0, 12})  // one of them, and another
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  CHECK(world.state->start());
  Round();
  CHECK(world.state->marks() == 9);
  for (const int hour : {13, 14, 15}) REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  CHECK_FALSE(world.state->start());
}

TEST_CASE_FIXTURE(Opened,
                  "of more odd hours than are told one by one answers stay those of raw points") {
  constexpr int64_t kDays = 8, kEnd = kMidnight + kDays * kDayS;
  world.marks_max = 2;
  REQUIRE(world.Reopen().ok());
  Round();
  for (int64_t at = kMidnight; at < kEnd; at += kHourS) {
    REQUIRE(world.PutInt("a", at, at % 1000).ok());
    // An infinity, told before the hour is rolled up or after it.
    const auto infinite = [&] {
      return world.Put("m", "b", at, PointValue::Double(std::numeric_limits<double>::infinity()));
    };
    if (at % (2 * kHourS) == 0) REQUIRE(infinite().ok());
    AdvanceTo(at + kHourS + 600);
    Round();
    if (at % (2 * kHourS) != 0) REQUIRE(infinite().ok());
    AdvanceTo(at + kHourS + 700);
    Round();
  }
  CHECK(world.state->marks() == RollupState::kOddOfMetric);
  CHECK(world.state->start());
  for (const bool next_process : {false, true}) {
    CAPTURE(next_process);
    if (next_process) REQUIRE(world.Reopen().ok());
    for (const char* downsample : {"1h-min", "1d-min", "1h-count"}) {
      Compare(downsample, kMidnight, kEnd - 1);
      CHECK(Compare(downsample, kEnd - 2 * kDayS, kEnd - 1) == "raw");
    }
    REQUIRE(world.PutInt("a", kEnd - kHourS + 1, 1).ok());
    CHECK(world.state->marks() == RollupState::kOddOfMetric + 1);
    Round();
    CHECK(world.state->marks() == RollupState::kOddOfMetric);
  }
  // Another metric has its rollups.
  REQUIRE(world.Put("other", "a", kEnd, PointValue::Int(1)).ok());
  AdvanceTo(kEnd + kDayS + 600);
  Round();
  query::SubQuery query = RollupWorld::Query("1h-sum", true);
  query.metric = "other";
  CHECK(world.Compare(query, kEnd, kEnd + kDayS - 1) == "1h");
}

/// A store that holds back the first mark, and knows whether a mark waited for a disk.
class MarkStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (rows[0].key.starts_with("mark")) {
      if (!CommitLater::Allowed()) waited_for_disk = true;
      if (++marks == 1) let_go.get_future().wait();
    }
    return ModelStore::MutateRows(table, rows);
  }
  std::atomic<int> marks{0};
  std::atomic<bool> waited_for_disk{false};
  std::promise<void> let_go;
};

/// Memory is wanting whenever it is asked how late it is.
class StarvedClock : public ManualClock {
 public:
  using ManualClock::ManualClock;
  [[nodiscard]] int64_t MonotonicNs() const override { throw std::bad_alloc(); }
};

TEST_CASE_FIXTURE(Opened, "rounds go on behind one that memory was wanting for") {
  const StarvedClock starved(kMidnight * 1000);
  RollupMakerOptions options;
  options.ids = *RollupIds::Of(world.tables);
  std::atomic<int> told{0};
  options.report = [&](const std::string& text) {
    CHECK(text.find("broken off") != std::string::npos);
    ++told;
    throw std::bad_alloc();  // that it was is not to be told, either
  };
  RollupMaker maker(world.store->points(), world.store->watched(), world.store->cells(),
                    *world.state, starved, options);
  maker.Start();
  while (told == 0) std::this_thread::yield();
  maker.Stop();
  CHECK(maker.Stats().failures == 1);
}

TEST_CASE("a change whose mark is being put while all is forgotten leaves another") {
  MarkStore store;
  for (const char* table : {"state", "tsdb-1h"})
    REQUIRE(store.CreateTable({table, {{"t"}}, false}).ok());
  const codec::RollupTables tables = TestTables();
  const auto state =
      *RollupState::Open(store, "state", {&tables.levels[2]}, {*RollupIds::Of(tables), {}});
  constexpr auto kStart = static_cast<uint32_t>(kMidnight);
  REQUIRE(state->Begin(kStart).ok());
  const ChangedRows rows{"m", kStart - 3600};
  std::thread writer([&] { CHECK(state->BeforeChange(rows).ok()); });
  while (store.marks == 0) std::this_thread::yield();
  CHECK(state->Begin(kStart).ok());
  store.let_go.set_value();
  writer.join();
  CHECK(store.marks == 2);
  CHECK(state->marks() == 1);
  state->AfterChange(rows);
  const auto repairable = state->Repairable(2);
  REQUIRE(repairable.size() == 1);
  CHECK(*state->Unmark(repairable[0]));
  CHECK(store.marks == 3);
  CHECK_FALSE(store.waited_for_disk);  // network loops wait for the mark that goes
}

TEST_CASE("random writes, late writes and deletes: rollups answer as raw points do") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto upto = [&random](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    FaultyFileSystem disk(seed);
    ManualClock clock{kMidnight * 1000};
    RollupWorld world(disk, clock);
    if (seed % 2 == 0) world.layout.salt_width = 1;
    REQUIRE(world.Open().ok());
    const std::vector<std::string> hosts = {"a", "b", "c"};
    const std::vector<std::string> functions = {"sum",    "avg",    "min", "max",  "count",
                                                "zimsum", "mimmax", "p50", "first"};
    const std::vector<std::string> intervals = {"10m", "30m", "1h", "90m", "2h", "1d",
                                                "1dc", "7h",  "2d", "1w",  "6h", "5m"};
    const std::vector<std::string> fills = {"", "-nan", "-zero"};
    const int64_t first = kMidnight - 3 * kDayS;
    const auto now = [&clock] { return clock.NowMs() / 1000; };
    std::map<std::string, int> tables;
    for (int step = 0; step < 400; ++step) {
      const std::string& host = hosts[static_cast<size_t>(upto(3))];
      const int64_t at = first + upto(now() - first);
      switch (upto(12)) {
        case 0:
          clock.AdvanceMs(upto(3 * kHourS) * 1000);
          break;
        case 1:
        case 2:
          REQUIRE(world.maker->Round().ok());
          break;
        case 3:
          REQUIRE(world.Delete(host, at - at % kHourS, at + upto(5 * kHourS)).ok());
          break;
        case 4:
          if (upto(4) == 0) REQUIRE(world.store->cells().Flush().ok());
          break;
        case 5:
          if (upto(6) == 0) REQUIRE(world.Reopen().ok());
          break;
        case 6:
          for (int i = 0; i < 200; ++i)
            REQUIRE(world.PutInt(host, now() - 600 + i, upto(100)).ok());
          break;
        default:
          for (int i = 0; i < 20; ++i) {
            // Quarters add up to the same in any order.
            const PointValue value = upto(3) == 0
                                         ? PointValue::Double(static_cast<double>(upto(4000)) / 4)
                                         : PointValue::Int(upto(1000) - 500);
            REQUIRE(world.Put("m", host, at + upto(7200), value).ok());
          }
      }
      for (int i = 0; i < 3; ++i) {
        query::SubQuery query = RollupWorld::Query(intervals[static_cast<size_t>(upto(12))] + "-" +
                                                       functions[static_cast<size_t>(upto(9))] +
                                                       fills[static_cast<size_t>(upto(3))],
                                                   upto(2) == 0, upto(2) == 0 ? "sum" : "max");
        query.rate = upto(4) == 0;
        const int64_t start = first - kDayS + upto(6 * kDayS);
        ++tables[world.Compare(query, start, start + 1 + upto(4 * kDayS))];
      }
    }
    CHECK(tables["10m"] > 10);
    CHECK(tables["1h"] > 10);
    CHECK(tables["1d"] > 10);
  }
}

TEST_CASE_FIXTURE(Opened, "late points that race with their repair are not lost to the rollups") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i) {
      const int64_t hour = i % 26;  // the last ones are not over yet
      if (!world.PutInt(i % 3 == 0 ? "b" : "a", kMidnight + hour * kHourS + i / 26 + 1, 1).ok())
        break;
    }
    over = true;
  });
  while (!over) Round();
  writer.join();
  Compare("1h-sum", kMidnight, kMidnight + 2 * kDayS);
  Round();
  CHECK(world.state->marks() == 0);
  CHECK(Compare("1h-sum", kMidnight, kMidnight + kDayS - 1) == "1h");
  CHECK(Compare("1d-count", kMidnight, kMidnight + kDayS - 1) == "1d");
}

/// What happens between two deaths. Ends with the first failure, as the process does.
Status Live(RollupWorld& world, ManualClock& clock) {
  RETURN_IF_ERROR(world.Open());
  for (int hour = -2; hour < 4; ++hour) {
    RETURN_IF_ERROR(world.PutInt("a", kMidnight + hour * kHourS, hour));
    RETURN_IF_ERROR(world.PutInt("b", kMidnight + hour * kHourS + 1, 2 * hour));
  }
  clock.SetMs((kMidnight + 2 * kHourS) * 1000);
  RETURN_IF_ERROR(world.maker->Round());
  RETURN_IF_ERROR(world.PutInt("a", kMidnight - kHourS + 5, 10));
  RETURN_IF_ERROR(world.PutInt("a", kMidnight + 5, 100));
  RETURN_IF_ERROR(world.maker->Round());
  RETURN_IF_ERROR(world.PutInt("b", kMidnight + 6, 1000));
  RETURN_IF_ERROR(world.store->cells().Flush());
  RETURN_IF_ERROR(world.Delete("b", kMidnight - kDayS, kMidnight));
  clock.SetMs((kMidnight + kDayS + 700) * 1000);
  RETURN_IF_ERROR(world.maker->Round());
  RETURN_IF_ERROR(world.PutInt("c", kMidnight + 3 * kHourS + 9, 7));
  RETURN_IF_ERROR(world.store->cells().Flush());
  return world.maker->Round();
}

TEST_CASE("wherever the process ends, the next one reads rollups that are right, or raw points") {
  for (const bool power_cut : {false, true}) {
    bool lived = false;
    for (uint64_t call = 1; !lived; ++call) {
      CAPTURE(power_cut);
      CAPTURE(call);
      FaultyFileSystem disk(call);
      ManualClock clock{kMidnight * 1000};
      RollupWorld world(disk, clock, power_cut ? Durability::kSynced : Durability::kLogged);
      disk.DieAtCall(call);
      lived = Live(world, clock).ok();
      world.Die();
      if (power_cut) disk.PowerCut();
      disk.FailCall(0);
      REQUIRE(world.Open().ok());
      const auto compare = [&world] {
        std::string last;
        for (const char* downsample : {"10m-sum", "1h-count", "2h-avg", "1d-max"})
          last = world.Compare(RollupWorld::Query(downsample, true), kMidnight - 2 * kDayS,
                               kMidnight + kDayS - 1);
        return last;
      };
      // A death before the first name was written: nothing can be asked for.
      REQUIRE(world.Tsuid("m", "a").ok());
      compare();
      REQUIRE(world.PutInt("a", kMidnight + kHourS + 17, 3).ok());
      compare();
      clock.SetMs((kMidnight + kDayS + 700) * 1000);
      REQUIRE(world.maker->Round().ok());
      CHECK(world.state->marks() == 0);
      CHECK(compare() == "1d");
    }
  }
}

}  // namespace
}  // namespace hg::tsd
