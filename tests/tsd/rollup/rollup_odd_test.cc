// Hours that rollups cannot represent, and where their points are read.

#include <doctest/doctest.h>

#include <limits>

#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

TEST_CASE_FIXTURE(Opened, "rollups do not include the hour after the end that fuzzy filters read") {
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

// The base time of a row has 32 bits. The rows of later times wrap around, and then they do not
// begin at a full hour.
TEST_CASE_FIXTURE(Opened,
                  "points of rows that do not begin at a full hour are read from their rows") {
  constexpr int64_t kWrappedMs = INT64_C(5'799'999'600'000);  // is shown at 1505032304
  constexpr int64_t kShown = 1'505'030'400;  // the start of the hour in which the wrapped time is
  const auto put = [this](int64_t offset_s, int64_t value) {
    for (const char* host : {"a", "b", "c"})
      REQUIRE(world.PutInt(host, kWrappedMs + offset_s * 1000, value).ok());
  };
  for (int64_t offset = 0; offset < 3600; offset += 120) put(offset, 5);
  REQUIRE(world.PutInt("a", kShown + 60, 7).ok());
  REQUIRE(world.PutInt("a", kShown + 3660, 7).ok());
  const auto compare = [this] {
    for (const char* downsample : {"10m-sum", "1h-sum", "1h-max", "2h-count", "1d-sum"})
      for (const int64_t begin : {kShown, kShown + 3600, kShown - kDayS})
        for (const int64_t end : {kShown + 3600, kShown + 7200, kShown + kDayS})
          if (begin < end) (void)Compare(downsample, begin, end);
  };
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  compare();
  // Later points of such rows change both hours.
  for (int64_t offset = 60; offset < 3600; offset += 600) put(offset, 9);
  compare();
  Round();
  compare();
  REQUIRE(world.Reopen().ok());
  Round();
  compare();
}

TEST_CASE_FIXTURE(Opened,
                  "points of cells that are later than the hour of their row are read from there") {
  for (int hour = 0; hour < 4; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  const Result<Bytes> tsuid = world.Tsuid("m", "a");
  REQUIRE(tsuid.ok());
  const Bytes key = codec::MakeRowKey(world.store->points().layout(), *tsuid,
                                      static_cast<uint32_t>(kMidnight + kHourS));
  // 3700 s into the hour: 3700 << 4, an integer of one byte.
  const RowMutation late{key, {PutCell("t", Bytes("\xE7\x40", 2), Bytes(1, '\5'))}};
  REQUIRE(world.store->cells().Mutate("tsdb", {late}).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  for (const char* downsample : {"10m-sum", "1h-sum", "2h-max", "1d-sum"})
    (void)Compare(downsample, kMidnight, kMidnight + kDayS);
  REQUIRE(world.store->cells().Mutate("tsdb", {late}).ok());  // only this hour is recomputed
  Round();
  (void)Compare("1h-sum", kMidnight, kMidnight + kDayS);
}

TEST_CASE_FIXTURE(Opened,
                  "hours that rollups cannot represent do not make all rollups be recomputed") {
  for (int hour = 0; hour < 9; ++hour)
    REQUIRE(world
                .Put("m", "a", kMidnight + hour * kHourS,
                     PointValue::Float(std::numeric_limits<float>::quiet_NaN()))
                .ok());
  world.markers_max = 2;
  REQUIRE(world.Reopen().ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->markers() == 9);
  for (int hour = 10; hour < 12; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  CHECK(world.state->markers() == 11);
  CHECK(world.state->start());
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());  // one of these hours
  CHECK(world.state->start());
  REQUIRE(world.PutInt("a", kMidnight + 12 * kHourS, 1).ok());
  CHECK_FALSE(world.state->start());
}

TEST_CASE_FIXTURE(Opened,
                  "after a restart, too, hours that rollups cannot represent do not make "
                  "all rollups be recomputed") {
  for (int hour = 0; hour < 9; ++hour) REQUIRE(world.Note("a", kMidnight + hour * kHourS).ok());
  world.markers_max = 2;
  REQUIRE(world.Reopen().ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->markers() == 9);
  REQUIRE(world.Reopen().ok());
  for (const int hour : {0, 12})  // one of these hours, and another hour
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  CHECK(world.state->start());
  Round();
  CHECK(world.state->markers() == 9);
  for (const int hour : {13, 14, 15}) REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, 1).ok());
  CHECK_FALSE(world.state->start());
}

TEST_CASE_FIXTURE(
    Opened, "if rollups cannot represent very many hours, results equal those of raw points") {
  constexpr int64_t kDays = 8, kEnd = kMidnight + kDays * kDayS;
  world.markers_max = 2;
  REQUIRE(world.Reopen().ok());
  Round();
  for (int64_t at = kMidnight; at < kEnd; at += kHourS) {
    REQUIRE(world.PutInt("a", at, at % 1000).ok());
    // A NaN, which rollups cannot represent. It is written before or after the hour is rolled up.
    const auto odd = [&] {
      return world.Put("m", "b", at, PointValue::Float(std::numeric_limits<float>::quiet_NaN()));
    };
    if (at % (2 * kHourS) == 0) REQUIRE(odd().ok());
    AdvanceTo(at + kHourS + 600);
    Round();
    if (at % (2 * kHourS) != 0) REQUIRE(odd().ok());
    AdvanceTo(at + kHourS + 700);
    Round();
  }
  CHECK(world.state->markers() == RollupState::kOddOfMetric);
  CHECK(world.state->start());
  for (const bool next_process : {false, true}) {
    CAPTURE(next_process);
    if (next_process) REQUIRE(world.Reopen().ok());
    for (const char* downsample : {"1h-min", "1d-min", "1h-count"}) {
      Compare(downsample, kMidnight, kEnd - 1);
      CHECK(Compare(downsample, kEnd - 2 * kDayS, kEnd - 1) == "raw");
    }
    REQUIRE(world.PutInt("a", kEnd - kHourS + 1, 1).ok());
    CHECK(world.state->markers() == RollupState::kOddOfMetric + 1);
    Round();
    CHECK(world.state->markers() == RollupState::kOddOfMetric);
  }
  // The other metric has rollups.
  REQUIRE(world.Put("other", "a", kEnd, PointValue::Int(1)).ok());
  AdvanceTo(kEnd + kDayS + 600);
  Round();
  query::SubQuery query = RollupWorld::Query("1h-sum", true);
  query.metric = "other";
  CHECK(world.Compare(query, kEnd, kEnd + kDayS - 1) == "1h");
}

TEST_CASE_FIXTURE(Opened,
                  "a query that would read rollups and points in very many pieces reads points") {
  // Every second hour has changed, so each hour is a piece of its own.
  struct Alternating : query::RolledHoursSource {
    query::RolledHours Of(ByteView, const RowRange& rows) override {
      query::RolledHours out;
      out.levels = {{&level, 0, UINT32_MAX / 3600 * 3600}};
      for (uint64_t hour = rows.begin; hour < rows.end; hour += 2 * kHourS)
        out.changed.push_back(static_cast<uint32_t>(hour));
      out.kept_before_s = kept_before_s;
      return out;
    }
    codec::RollupLevel level;
    uint32_t kept_before_s = 0;
  } source;
  source.level = world.tables.levels[2];
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  query::Options options;
  options.timezone = "UTC";
  options.rollups = world.tables;
  query::Engine engine(world.store->points(), *world.names, world.store->cells(), clock, options,
                       nullptr, &source);
  const auto table_of = [&](int hours) {
    return RollupWorld::Ask(engine, RollupWorld::Query("1h-sum"), kMidnight,
                            kMidnight + hours * kHourS - 1)
        .table;
  };
  constexpr int kPieces = 4096;
  CHECK(table_of(kPieces - 1) == "1h");
  CHECK(table_of(kPieces + 1) == "raw");
  source.kept_before_s = kMidnight + kDayS;  // the raw points may have been deleted
  CHECK(table_of(kPieces + 1) == "1h");
}

}  // namespace
}  // namespace hg::tsd
