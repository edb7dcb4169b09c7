// Rollups, and raw points that are deleted by age.

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "tests/tsd/rollup/rollup_world.h"
#include "tsd/rollup/ended_rollups.h"

namespace hg::tsd {
namespace {

constexpr auto kFirstDay = static_cast<uint32_t>(kMidnight);
constexpr auto kSecondDay = static_cast<uint32_t>(kMidnight + kDayS);
constexpr auto kThirdDay = static_cast<uint32_t>(kMidnight + 2 * kDayS);

TEST_CASE_FIXTURE(Opened, "after raw points are deleted by age, their rollups answer queries") {
  for (int hour = 0; hour < 48; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  const Bytes metric = world.Tsuid("m", "a")->substr(0, 3);
  CHECK(*world.state->KeepBefore(metric, kMidnight + kDayS) == 0);
  Round();
  AdvanceTo(kMidnight + 2 * kDayS + 600);
  Round();
  const int64_t end = kMidnight + 2 * kDayS - 1;
  const auto query = RollupWorld::Query("1d-sum");
  const std::string before = RollupWorld::Ask(*world.raw, query, kMidnight, end).text;
  SUBCASE("a changed hour is recomputed before its points may be deleted") {
    REQUIRE(world.PutInt("a", kMidnight + kDayS - 1, 1).ok());
    CHECK(*world.state->KeepBefore(metric, kMidnight + kDayS + 5 * kHourS) == kMidnight);
    Round();
    CHECK(*world.state->KeepBefore(metric, kMidnight + kDayS + 5 * kHourS) == kMidnight + kDayS);
  }
  SUBCASE("rollups keep deleted points in results, and late points do not get into results") {
    REQUIRE(*world.state->KeepBefore(metric, kMidnight + kDayS + 5 * kHourS) == kMidnight + kDayS);
    REQUIRE(world.Delete("a", 0, kMidnight + kDayS).ok());
    CHECK(world.state->markers() == 0);
    Round();
    REQUIRE(world.PutInt("a", kMidnight + 7, 1000).ok());
    Round();
    CHECK(RollupWorld::Ask(*world.rolled, query, kMidnight, end).text == before);
    REQUIRE(world.Reopen().ok());
    REQUIRE(world.PutInt("a", kMidnight + 8, 1000).ok());
    CHECK(RollupWorld::Ask(*world.rolled, query, kMidnight, end).text == before);
    REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
    SUBCASE("with the same configuration") { REQUIRE(world.Reopen().ok()); }
    SUBCASE("with another interval, which has no rollups of these days") {
      using Unit = codec::RollupSpanUnit;
      world.tables.levels.push_back({"2h", "tsdb-2h", "pre", {7200, Unit::kDays, 1, 12}, false, 0});
      REQUIRE(world.Reopen().ok());
    }
    CHECK_FALSE(world.state->start());
    CHECK(RollupWorld::Ask(*world.rolled, query, kMidnight, end).text == before);
    Round();
    CHECK(RollupWorld::Ask(*world.rolled, query, kMidnight, end).text == before);
    const auto hours = RollupWorld::Query("2h-sum");
    CHECK(RollupWorld::Ask(*world.rolled, hours, kMidnight, kMidnight + 1).text != "");
  }
}

/// Two days of a metric. A test may delete the points of the first day.
struct TwoDays : Opened {
  TwoDays() {
    for (int hour = 0; hour < 48; ++hour) {
      REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
      REQUIRE(world.PutInt("b", kMidnight + hour * kHourS + 9, 2 * hour).ok());
    }
    metric = world.Tsuid("m", "a")->substr(0, 3);
  }
  void RoundOfSecondNight() {
    Round();
    AdvanceTo(kMidnight + 2 * kDayS + 600);
    Round();
  }
  Status DeleteFirstDay() {
    RETURN_IF_ERROR(world.Delete("a", 0, kSecondDay));
    return world.Delete("b", 0, kSecondDay);
  }
  static std::string Answer(query::Engine& engine, const std::string& hosts = "*", int days = 2) {
    std::string all;
    for (const char* downsample : {"1d-sum", "1h-avg", "1d-min", "2h-max", "1d-count"}) {
      query::SubQuery query = RollupWorld::Query(downsample);
      query.filters.push_back({"wildcard", "host", hosts, true});
      all += RollupWorld::Ask(engine, query, kFirstDay, kMidnight + days * kDayS - 1).text;
    }
    return all;
  }
  Bytes metric;
};

TEST_CASE("hours that rollups cannot represent do not prevent deleting points by age") {
  const auto put = [](TwoDays& days, const PointValue& value) {
    return days.world.Put("m", "a", kMidnight + 3 * kHourS + 5, value);
  };
  const std::vector<std::function<Status(TwoDays&)>> extras = {
      [](TwoDays& days) { return days.world.Note("a", kMidnight + 3 * kHourS); },
      [&](TwoDays& days) {
        return put(days, PointValue::Float(std::numeric_limits<float>::quiet_NaN()));
      },
      [&](TwoDays& days) {
        return put(days, PointValue::Double(std::numeric_limits<double>::quiet_NaN()));
      }};
  for (const auto& add : extras) {
    for (const bool next_process : {false, true}) {
      TwoDays days;
      RollupWorld& world = days.world;
      CAPTURE(&add - extras.data());
      CAPTURE(next_process);
      REQUIRE(add(days).ok());
      days.RoundOfSecondNight();
      if (next_process) {  // the next process checks the hours again
        REQUIRE(world.Reopen().ok());
        CHECK(*world.state->KeepBefore(days.metric, kSecondDay + 5 * kHourS) == kFirstDay);
        days.Round();
      }
      CHECK(world.state->markers() == 1);
      const std::string before = TwoDays::Answer(*world.raw);
      CHECK(TwoDays::Answer(*world.rolled) == before);
      REQUIRE(*world.state->KeepBefore(days.metric, kSecondDay + 5 * kHourS) == kSecondDay);
      CHECK(world.state->markers() == 0);
      CHECK(TwoDays::Answer(*world.rolled) == before);
      REQUIRE(days.DeleteFirstDay().ok());
      CHECK(TwoDays::Answer(*world.rolled) == before);
      days.Round();
      REQUIRE(world.Reopen().ok());
      CHECK(world.state->markers() == 0);
      CHECK(TwoDays::Answer(*world.rolled) == before);
    }
  }
}

TEST_CASE_FIXTURE(TwoDays, "when rollups are switched off, the rollups of deleted points stay") {
  RoundOfSecondNight();
  const std::string before = Answer(*world.raw);
  uint32_t kept = 0;
  SUBCASE("no rollups were kept before") {}
  SUBCASE("rollups were kept before") { kept = *world.state->KeepBefore(metric, kSecondDay); }
  SUBCASE("all rollups were to be recomputed") {
    REQUIRE(world.state->KeepBefore(metric, kSecondDay).ok());
    kept = kSecondDay;
    REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
    REQUIRE(RollupStateRows(world.store->cells(), "tsdb-rollups").Clean().ok());
  }
  REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
  const auto ended = *EndedRollups::Open(world.store->cells(), "tsdb-rollups");
  CHECK(*ended->KeepBefore(metric, kFirstDay + 5 * kHourS) ==
        (kept > 0 ? kFirstDay + 5 * kHourS : kFirstDay));
  CHECK(*ended->KeepBefore(metric, kSecondDay + 5 * kHourS) == kSecondDay);
  REQUIRE(DeleteFirstDay().ok());
  REQUIRE(world.Reopen().ok());
  CHECK(Answer(*world.rolled) == before);
  Round();
  CHECK(Answer(*world.rolled) == before);
  CHECK(*world.state->KeepBefore(metric, kSecondDay) == kSecondDay);
}

TEST_CASE_FIXTURE(
    TwoDays,
    "after rollups were switched off, remaining points without rollups are still in results") {
  const auto end_rollups = [this] {
    Store& cells = world.store->cells();
    REQUIRE(RollupState::TellMissed(cells, "tsdb-rollups").ok());
    return *EndedRollups::Open(cells, "tsdb-rollups");
  };
  SUBCASE("the points were written later") {
    Round();
    AdvanceTo(kSecondDay + 600);
    Round();
  }
  SUBCASE("the points were written before, and the rollups of their metric were not complete") {
    REQUIRE(world.state->Begin(kThirdDay).ok());
  }
  CHECK(*end_rollups()->KeepBefore(metric, kThirdDay + 5 * kHourS) == kThirdDay);
  REQUIRE(world.Delete("a", 0, kThirdDay).ok());
  AdvanceTo(kThirdDay + 600);
  REQUIRE(world.Reopen().ok());
  const std::string left = Answer(*world.raw, "b*");
  REQUIRE(left.find("host=b") != std::string::npos);
  CHECK(Answer(*world.rolled, "b*") == left);
  Round();
  CHECK(Answer(*world.rolled, "b*") == left);
}

TEST_CASE_FIXTURE(
    TwoDays,
    "kept rollups stay if rollups are switched off during a recomputation of all rollups") {
  RoundOfSecondNight();
  const std::string before = Answer(*world.raw);
  REQUIRE(*world.state->KeepBefore(metric, kSecondDay) == kSecondDay);
  REQUIRE(DeleteFirstDay().ok());
  Store& cells = world.store->cells();
  RollupStateRows rows(cells, "tsdb-rollups");
  REQUIRE(rows.TellMissed().ok());
  REQUIRE(rows.Clean().ok());
  ReconcileOptions reconcile;
  reconcile.fix_duplicates = true;
  const codec::RollupLevel& days = world.tables.levels[3];
  const Bytes made = MadeOf(days, {*RollupIds::Of(world.tables), reconcile});
  REQUIRE(rows.PutLevel(days, made, kThirdDay).ok());
  CHECK(*(*EndedRollups::Open(cells, "tsdb-rollups"))->KeepBefore(metric, kThirdDay) == kThirdDay);
  REQUIRE(world.Reopen().ok());
  CHECK(Answer(*world.rolled) == before);
  Round();
  CHECK(Answer(*world.rolled) == before);
}

TEST_CASE_FIXTURE(
    TwoDays,
    "if the clock is set back during a recomputation, the rollups of later days are not lost") {
  for (int hour = 48; hour < 72; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kThirdDay + kDayS + 600);
  Round();
  const std::string before = Answer(*world.raw, "*", 3);
  REQUIRE(*world.state->KeepBefore(metric, kSecondDay) == kSecondDay);
  REQUIRE(DeleteFirstDay().ok());
  REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
  AdvanceTo(kFirstDay - 3 * kDayS);
  REQUIRE(world.Reopen().ok());
  Round();
  CHECK(Answer(*world.rolled, "*", 3) == before);
  AdvanceTo(kThirdDay + kDayS + 600);
  Round();
  CHECK(Answer(*world.rolled, "*", 3) == before);
  CHECK(RollupWorld::Ask(*world.rolled, RollupWorld::Query("1d-sum"), kFirstDay,
                         kThirdDay + kDayS - 1)
            .table == "1d");
}

TEST_CASE_FIXTURE(TwoDays,
                  "raw points that are deleted during a query are in the result of the query") {
  for (int hour = 0; hour < 24; ++hour) REQUIRE(world.Note("a", kMidnight + hour * kHourS).ok());
  RoundOfSecondNight();
  REQUIRE(world.state->markers() == 24);
  SourceBefore source(*world.state);
  query::Options options;
  options.timezone = "UTC";
  options.reconcile.fix_duplicates = true;
  options.rollups = world.tables;
  query::Engine engine(world.store->points(), *world.names, world.store->cells(), clock, options,
                       nullptr, &source);
  const int64_t start = kMidnight + 5 * kHourS, end = start + 3 * kHourS - 1;
  const auto query = RollupWorld::Query("1h-sum", true);
  const RollupWorld::Found before = RollupWorld::Ask(engine, query, start, end);
  CHECK(before.table == "raw");
  source.then = [this] {
    CHECK(*world.state->KeepBefore(metric, kSecondDay) == kSecondDay);
    CHECK(DeleteFirstDay().ok());
  };
  const RollupWorld::Found found = RollupWorld::Ask(engine, query, start, end);
  CHECK(found.text == before.text);
  CHECK(found.table == "1h");
}

TEST_CASE(
    "if the process ends while points are deleted by age, the rollups of these points exist") {
  FaultyFileSystem filled(1);
  ManualClock clock{kMidnight * 1000};
  const auto retain = [](RollupWorld& world) -> Status {
    RETURN_IF_ERROR(world.Open());
    ASSIGN_OR_RETURN(const Bytes tsuid, world.Tsuid("m", "a"));
    RETURN_IF_ERROR(world.maker->Round());
    ASSIGN_OR_RETURN(const uint32_t end, world.state->KeepBefore(tsuid.substr(0, 3), kSecondDay));
    RETURN_IF_ERROR(world.Delete("a", 0, end));
    RETURN_IF_ERROR(world.store->cells().Flush());
    return world.maker->Round();
  };
  {
    RollupWorld world(filled, clock);
    REQUIRE(world.Open().ok());
    for (int hour = 0; hour < 48; hour += 3)
      REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
    REQUIRE(world.Note("a", kMidnight + 6 * kHourS).ok());
    REQUIRE(world.maker->Round().ok());
    clock.SetMs((kMidnight + 2 * kDayS + 600) * 1000);
  }
  const auto answer = [](RollupWorld& world) {
    std::string all;
    for (const char* downsample : {"1d-sum", "1h-avg"})
      all += RollupWorld::Ask(*world.rolled, RollupWorld::Query(downsample), kFirstDay,
                              kMidnight + 2 * kDayS - 1)
                 .text;
    return all;
  };
  std::string before;
  for (const bool power_cut : {false, true}) {
    bool lived = false;
    for (uint64_t call = 1; !lived; ++call) {
      CAPTURE(power_cut);
      CAPTURE(call);
      FaultyFileSystem disk = filled.Copy();
      RollupWorld world(disk, clock, power_cut ? Durability::kSynced : Durability::kLogged);
      if (before.empty()) {
        REQUIRE(world.Open().ok());
        before = answer(world);
        REQUIRE(before.size() > 50);
        world.Die();
      }
      disk.DieAtCall(call);
      lived = retain(world).ok();
      world.Die();
      if (power_cut) disk.PowerCut();
      disk.FailCall(0);
      REQUIRE(world.Open().ok());
      CHECK(answer(world) == before);
      REQUIRE(world.maker->Round().ok());
      CHECK(answer(world) == before);
    }
  }
}

}  // namespace
}  // namespace hg::tsd
