// Late points, and the dirty markers that exist until they are rolled up.

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/model_store.h"
#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

TEST_CASE_FIXTURE(Opened,
                  "late points of an hour set one marker, and the next result contains them") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  CHECK(world.state->markers() == 0);
  for (int i = 1; i < 50; ++i) {
    REQUIRE(world.PutInt("a", kMidnight + 5 * kHourS + i, 1).ok());
    REQUIRE(world.PutInt("late", kMidnight + 5 * kHourS + i, 1).ok());
  }
  CHECK(world.state->markers() == 1);
  const int64_t end = kMidnight + kDayS - 1;
  CHECK(Compare("1d-sum", kMidnight, end) == "1h");
  CHECK(Compare("1h-count", kMidnight, end) == "1h");
  Round();
  CHECK(world.state->markers() == 0);
  CHECK(world.maker->Stats().repaired == 1);
  CHECK(Compare("1d-sum", kMidnight, end) == "1d");
  CHECK(Compare("1h-count", kMidnight, end) == "1h");
  CHECK(world.Delete("late", kMidnight, kMidnight + kDayS).ok());
  CHECK(world.Delete("a", kMidnight + 7 * kHourS, kMidnight + 9 * kHourS).ok());
  CHECK(world.state->markers() == 3);
  CHECK(Compare("1d-min", kMidnight, end) == "1h");
  Round();
  CHECK(world.state->markers() == 0);
  CHECK(Compare("1d-min", kMidnight, end) == "1d");
}

TEST_CASE_FIXTURE(Opened, "a marker stays if its hour is being written or has changed again") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(world.PutInt("a", kMidnight + 1, 5).ok());
  const auto before = world.state->Repairable(10);
  REQUIRE(before.size() == 1);
  const ChangedRows rows{before[0].metric, before[0].base};
  SUBCASE("the hour was written again") {
    REQUIRE(world.PutInt("a", kMidnight + 2, 5).ok());
    CHECK_FALSE(*world.state->Unmark(before[0]));
  }
  SUBCASE("a write is in progress") {
    REQUIRE(world.state->BeforeChange(rows).ok());
    CHECK(world.state->Repairable(10).empty());
    CHECK_FALSE(*world.state->Unmark(before[0]));
    world.state->AfterChange(rows);
    CHECK_FALSE(*world.state->Unmark(before[0]));
  }
  const auto now = world.state->Repairable(10);
  REQUIRE(now.size() == 1);
  CHECK(*world.state->Unmark(now[0]));
  CHECK(world.state->markers() == 0);
}

/// A clock that advances by a second with each call.
class TickingClock : public ManualClock {
 public:
  using ManualClock::ManualClock;
  [[nodiscard]] int64_t MonotonicNs() const override { return ++seconds_ * 1'000'000'000; }
  void Pass(int64_t seconds) { seconds_ += seconds; }

 private:
  mutable std::atomic<int64_t> seconds_{0};
};

TEST_CASE("if points arrive late all the time, their day is not recomputed each time") {
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
    return world.state->markers();
  };
  CHECK(late(1) == 0);
  CHECK(late(2) == 2);
  REQUIRE(world.PutInt("a", kMidnight - kDayS, 1).ok());  // a point of another day
  CHECK(late(3) == 2);
  world.Compare(RollupWorld::Query("1h-sum"), kMidnight, kMidnight + kDayS - 1);
  clock.Pass(10'000);
  CHECK(late(4) == 0);
}

TEST_CASE_FIXTURE(Opened, "the markers of changed hours survive a restart") {
  REQUIRE(world.PutInt("a", kMidnight, 1).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(world.PutInt("a", kMidnight + 1, 5).ok());
  REQUIRE(world.Reopen().ok());
  CHECK(world.state->markers() == 1);
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1h");
  REQUIRE(world.PutInt("a", kMidnight + kHourS, 7).ok());
  CHECK(world.state->markers() == 2);
  Round();
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "after too many late hours all rollups are recomputed") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  world.markers_max = 5;
  REQUIRE(world.Reopen().ok());
  for (int hour = 0; hour < 9; ++hour) {
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS + 1, 1).ok());
    Compare("1h-sum", kMidnight, kMidnight + kDayS - 1);
  }
  CHECK(world.state->markers() == 0);
  CHECK_FALSE(world.state->start());
  SUBCASE("by this process") {}
  SUBCASE("by the next one") { REQUIRE(world.Reopen().ok()); }
  CHECK(Compare("1h-sum", kMidnight, kMidnight + kDayS - 1) == "raw");
  Round();
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1d");
}

TEST_CASE_FIXTURE(Opened, "if a writer has not reported its changes, all rollups are recomputed") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  Round();
  REQUIRE(RollupState::TellMissed(world.store->cells(), "tsdb-rollups").ok());
  REQUIRE(world.Reopen().ok());
  REQUIRE(world.PutInt("a", kMidnight + 1, 100).ok());  // stands for a point of that writer
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "raw");
  Round();
  CHECK(Compare("1d-sum", kMidnight, kMidnight + kDayS - 1) == "1d");
}

/// Delays the first marker, and records whether the write of a marker waited for a disk.
class MarkerStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (rows[0].key.starts_with("mark")) waited_for_disk = true;
    return ModelStore::MutateRows(table, rows);
  }
  Store& CommittedLater() override { return later; }

  /// A store that shares the state of its owner and writes to it.
  class Later : public ModelStore {
   public:
    explicit Later(MarkerStore& all) : all_(all) {}
    std::vector<Status> MutateRows(const std::string& table,
                                   const std::vector<RowMutation>& rows) override {
      if (rows[0].key.starts_with("mark") && ++all_.markers == 1) all_.let_go.get_future().wait();
      return all_.ModelStore::MutateRows(table, rows);
    }

   private:
    MarkerStore& all_;
  };
  Later later{*this};
  std::atomic<int> markers{0};
  std::atomic<bool> waited_for_disk{false};
  std::promise<void> let_go;
};

TEST_CASE("if the state is discarded while a change sets its marker, the change sets another one") {
  MarkerStore store;
  for (const char* table : {"state", "tsdb-1h"})
    REQUIRE(store.CreateTable({table, {{"t"}}, false}).ok());
  const codec::RollupTables tables = TestTables();
  const auto state =
      *RollupState::Open(store, "state", {&tables.levels[2]}, {*RollupIds::Of(tables), {}});
  constexpr auto kStart = static_cast<uint32_t>(kMidnight);
  REQUIRE(state->Begin(kStart).ok());
  const ChangedRows rows{"m", kStart - 3600};
  std::thread writer([&] { CHECK(state->BeforeChange(rows).ok()); });
  while (store.markers == 0) std::this_thread::yield();
  CHECK(state->Begin(kStart).ok());
  store.let_go.set_value();
  writer.join();
  CHECK(store.markers == 2);
  CHECK(state->markers() == 1);
  state->AfterChange(rows);
  const auto repairable = state->Repairable(2);
  REQUIRE(repairable.size() == 1);
  CHECK(*state->Unmark(repairable[0]));
  CHECK(store.markers == 3);
  CHECK_FALSE(store.waited_for_disk);  // event loops wait for the removed marker
}

TEST_CASE_FIXTURE(Opened,
                  "late points that arrive during a repair are not missing in the rollups") {
  for (int hour = 0; hour < 24; ++hour)
    REQUIRE(world.PutInt("a", kMidnight + hour * kHourS, hour).ok());
  Round();
  AdvanceTo(kMidnight + kDayS + 600);
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i) {
      const int64_t hour = i % 26;  // the last hours are not over yet
      if (!world.PutInt(i % 3 == 0 ? "b" : "a", kMidnight + hour * kHourS + i / 26 + 1, 1).ok())
        break;
    }
    over = true;
  });
  while (!over) Round();
  writer.join();
  Compare("1h-sum", kMidnight, kMidnight + 2 * kDayS);
  Round();
  CHECK(world.state->markers() == 0);
  CHECK(Compare("1h-sum", kMidnight, kMidnight + kDayS - 1) == "1h");
  CHECK(Compare("1d-count", kMidnight, kMidnight + kDayS - 1) == "1d");
}

}  // namespace
}  // namespace hg::tsd
