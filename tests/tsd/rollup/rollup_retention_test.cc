// Rollups and raw points that are deleted for their age.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <thread>

#include "tests/support/model_store.h"
#include "tests/tsd/rollup/rollup_world.h"
#include "tsd/rollup/ended_rollups.h"

namespace hg::tsd {
namespace {

constexpr auto kFirstDay = static_cast<uint32_t>(kMidnight);
constexpr auto kSecondDay = static_cast<uint32_t>(kMidnight + kDayS);

TEST_CASE_FIXTURE(Opened, "raw points that go for their age leave rollups that answer") {
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
  SUBCASE("a changed hour must be made anew first") {
    REQUIRE(world.PutInt("a", kMidnight + kDayS - 1, 1).ok());
    CHECK(*world.state->KeepBefore(metric, kMidnight + kDayS + 5 * kHourS) == kMidnight);
    Round();
    CHECK(*world.state->KeepBefore(metric, kMidnight + kDayS + 5 * kHourS) == kMidnight + kDayS);
  }
  SUBCASE("what was deleted stays in the answer, and late points are in none") {
    REQUIRE(*world.state->KeepBefore(metric, kMidnight + kDayS + 5 * kHourS) == kMidnight + kDayS);
    REQUIRE(world.Delete("a", 0, kMidnight + kDayS).ok());
    CHECK(world.state->marks() == 0);
    Round();
    REQUIRE(world.PutInt("a", kMidnight + 7, 1000).ok());
    Round();
    CHECK(RollupWorld::Ask(*world.rolled, query, kMidnight, end).text == before);
    REQUIRE(world.Reopen().ok());
    REQUIRE(world.PutInt("a", kMidnight + 8, 1000).ok());
    CHECK(RollupWorld::Ask(*world.rolled, query, kMidnight, end).text == before);
    REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
    SUBCASE("as it is configured") { REQUIRE(world.Reopen().ok()); }
    SUBCASE("with another interval, which has nothing of these days") {
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

/// Two days of a metric, whose first one is to go.
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
  static std::string Answer(query::Engine& engine) {
    std::string all;
    for (const char* downsample : {"1d-sum", "1h-avg", "1d-min", "2h-max", "1d-count"}) {
      all += RollupWorld::Ask(engine, RollupWorld::Query(downsample, true), kFirstDay,
                              kMidnight + 2 * kDayS - 1)
                 .text;
    }
    return all;
  }
  Bytes metric;
};

TEST_CASE("what rollups do not tell keeps no points from going for their age") {
  const auto put = [](TwoDays& days, double value) {
    return days.world.Put("m", "a", kMidnight + 3 * kHourS + 5, PointValue::Double(value));
  };
  const std::vector<std::function<Status(TwoDays&)>> extras = {
      [](TwoDays& days) { return days.world.Note("a", kMidnight + 3 * kHourS); },
      [&](TwoDays& days) { return put(days, std::numeric_limits<double>::quiet_NaN()); },
      [&](TwoDays& days) { return put(days, std::numeric_limits<double>::infinity()); }};
  for (const auto& add : extras) {
    for (const bool next_process : {false, true}) {
      TwoDays days;
      RollupWorld& world = days.world;
      CAPTURE(&add - extras.data());
      CAPTURE(next_process);
      REQUIRE(add(days).ok());
      days.RoundOfSecondNight();
      if (next_process) {  // which looks again
        REQUIRE(world.Reopen().ok());
        CHECK(*world.state->KeepBefore(days.metric, kSecondDay + 5 * kHourS) == kFirstDay);
        days.Round();
      }
      CHECK(world.state->marks() == 1);
      const std::string before = TwoDays::Answer(*world.raw);
      CHECK(TwoDays::Answer(*world.rolled) == before);
      REQUIRE(*world.state->KeepBefore(days.metric, kSecondDay + 5 * kHourS) == kSecondDay);
      CHECK(world.state->marks() == 0);
      CHECK(TwoDays::Answer(*world.rolled) == before);
      REQUIRE(days.DeleteFirstDay().ok());
      CHECK(TwoDays::Answer(*world.rolled) == before);
      days.Round();
      REQUIRE(world.Reopen().ok());
      CHECK(world.state->marks() == 0);
      CHECK(TwoDays::Answer(*world.rolled) == before);
    }
  }
}

/// A store that refuses what is kept, and is asked for another change meanwhile.
class KeptStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (!rows[0].key.starts_with("kept")) return ModelStore::MutateRows(table, rows);
    writer = std::thread([this] { change(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that it can go wrong
    return {Status::IoError("refused")};
  }
  std::function<void()> change;
  std::thread writer;
};

TEST_CASE("a change beside a failure to say what is kept leaves its mark") {
  KeptStore store;
  for (const char* table : {"state", "tsdb-1h"})
    REQUIRE(store.CreateTable({table, {{"t"}}, false}).ok());
  const codec::RollupTables tables = TestTables();
  const auto state =
      *RollupState::Open(store, "state", {&tables.levels[2]}, {*RollupIds::Of(tables), {}});
  REQUIRE(state->Begin(kSecondDay).ok());
  REQUIRE(state->SetComplete().ok());
  store.change = [&] { CHECK(state->BeforeChange({"m", kFirstDay}).ok()); };
  CHECK_FALSE(state->KeepBefore("m", kSecondDay).ok());
  store.writer.join();
  CHECK(state->marks() == 1);
}

TEST_CASE_FIXTURE(TwoDays,
                  "where rollups are made no more, those that were made stay all the same") {
  RoundOfSecondNight();
  const std::string before = Answer(*world.raw);
  uint32_t kept = 0;
  SUBCASE("nothing was kept before") {}
  SUBCASE("something was") { kept = *world.state->KeepBefore(metric, kSecondDay); }
  SUBCASE("all was to be made anew") {
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

TEST_CASE("wherever the process ends while points go for their age, their rollups are there") {
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
