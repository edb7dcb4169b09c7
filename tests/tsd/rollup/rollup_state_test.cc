// The state of rollups with several threads that read and change it.

#include "tsd/rollup/rollup_state.h"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "tests/fault/starve.h"
#include "tests/support/model_store.h"
#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

constexpr auto kRolledDay = static_cast<uint32_t>(kMidnight);
constexpr auto kOpenDay = static_cast<uint32_t>(kMidnight + kDayS);
constexpr uint32_t kHour = 3600;

/// The state of metric "m", whose hours before the second day are all rolled up.
template <typename StoreOfTest>
struct Known {
  Known() {
    for (const char* table : {"state", "tsdb-1h"})
      REQUIRE(store.CreateTable({table, {{"t"}}, false}).ok());
    state = *RollupState::Open(store, "state", {&tables.levels[2]}, {*RollupIds::Of(tables), {}});
    REQUIRE(state->Begin(kOpenDay).ok());
    REQUIRE(state->SetComplete().ok());
  }
  StoreOfTest store;
  const codec::RollupTables tables = TestTables();
  std::shared_ptr<RollupState> state;
};

void LetGoWrong() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

/// A store that calls a function while kept rollups are recorded.
class KeptStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (!rows[0].key.starts_with("kept")) return ModelStore::MutateRows(table, rows);
    other = std::thread(meanwhile);
    LetGoWrong();
    if (refuses) return {Status::IoError("refused")};
    return ModelStore::MutateRows(table, rows);
  }
  bool refuses = false;
  std::function<void()> meanwhile;
  std::thread other;
};

TEST_CASE_FIXTURE(
    Known<KeptStore>,
    "if kept rollups cannot be recorded, a change at the same time leaves its marker") {
  store.refuses = true;
  store.meanwhile = [this] { CHECK(state->BeforeChange({"m", kRolledDay}).ok()); };
  CHECK_FALSE(state->KeepBefore("m", kOpenDay).ok());
  store.other.join();
  CHECK(state->markers() == 1);
}

TEST_CASE_FIXTURE(
    Known<KeptStore>,
    "no hour of kept rollups is read from raw points, even while they are being recorded") {
  REQUIRE(state->MarkOdd("m", kRolledDay + 3 * kHour, Odd::kExtras).ok());
  store.meanwhile = [this] {
    const query::RolledHours hours = state->Of("m", {kRolledDay, kOpenDay});
    if (hours.kept_before_s == 0) return;  // this thread was faster than the record
    CHECK(hours.kept_before_s == kOpenDay);
    CHECK(hours.changed.empty());
  };
  CHECK(*state->KeepBefore("m", kOpenDay) == kOpenDay);
  store.other.join();
}

TEST_CASE_FIXTURE(Known<ModelStore>,
                  "the points of an hour that was once unreadable are not deleted") {
  const uint32_t hour = kRolledDay + 3 * kHour;
  REQUIRE(state->MarkOdd("m", hour, Odd::kExtras).ok());
  REQUIRE(state->MarkOdd("m", hour, Odd::kUnreadable).ok());
  REQUIRE(state->MarkOdd("m", hour, Odd::kExtras).ok());
  CHECK(*state->KeepBefore("m", kOpenDay) == kRolledDay);
}

TEST_CASE_FIXTURE(Known<ModelStore>,
                  "the number of markers for hours that rollups cannot represent is limited, also "
                  "if many metrics have such hours") {
  constexpr size_t kMarkersMax = 10, kMost = kMarkersMax + RollupState::kOddMoreMax;
  state = *RollupState::Open(store, "state", {&tables.levels[2]}, {*RollupIds::Of(tables), {}},
                             kMarkersMax);
  for (size_t i = 0; i < kMost + 9; ++i) {
    const uint32_t hour = kRolledDay + i % 10 * kHour;
    REQUIRE(state->MarkOdd("m" + std::to_string(i / 10), hour, Odd::kExtras).ok());
  }
  CHECK(state->markers() == kMost);
  CHECK(state->CountsAsOdd("m" + std::to_string(kMost / 10), kRolledDay));
  CHECK_FALSE(state->CountsAsOdd("m1", kRolledDay));
}

TEST_CASE_FIXTURE(Known<ModelStore>,
                  "if very many hours of a metric have changed, the rollups of a range end early") {
  constexpr uint32_t kHours = RollupState::kChangedMax + 1;
  constexpr uint32_t kLast = kOpenDay - 2 * kHour, kFirst = kLast - (kHours - 1) * kHour;
  REQUIRE(state->Advance(state->levels(), kOpenDay).ok());
  for (uint32_t hour = kFirst; hour <= kLast; hour += kHour)
    REQUIRE(state->MarkOdd("m", hour, Odd::kExtras).ok());
  const auto end_of = [&](const Bytes& metric, uint32_t begin) {
    const query::RolledHours hours = state->Of(metric, {begin, kOpenDay});
    CHECK(hours.changed.size() <= RollupState::kChangedMax);
    return hours.levels.at(0).end_s;
  };
  CHECK(end_of("m", kFirst) == kLast);
  CHECK(end_of("m", kFirst + kHour) == kOpenDay);
  CHECK(end_of("other", kFirst) == kOpenDay);
}

TEST_CASE_FIXTURE(Known<ModelStore>,
                  "hours to recompute are found among many that rollups cannot represent") {
  constexpr uint32_t kHours = 20'000;
  for (uint32_t i = 0; i < kHours; ++i)
    REQUIRE(state->MarkOdd("m" + std::to_string(i), kRolledDay, Odd::kExtras).ok());
  for (const uint32_t i : {0U, kHours / 2, kHours - 1}) {
    const Bytes metric = "m" + std::to_string(i);
    const ChangedRows change{metric, kRolledDay};
    REQUIRE(state->BeforeChange(change).ok());
    state->AfterChange(change);
  }
  CHECK(state->Repairable(kHours).size() == 3);
  CHECK(state->Repairable(2).size() == 2);
}

TEST_CASE(
    "after too many hours that rollups cannot represent, all later hours of the metric "
    "count as such hours") {
  constexpr uint32_t kHours = 10 * 24;
  constexpr uint32_t kEnd = kRolledDay + kHours * kHour, kOddDay = kRolledDay + 4 * 24 * kHour;
  constexpr uint32_t kUnreadableDay = kRolledDay + 7 * 24 * kHour;
  for (const bool some_unreadable : {false, true}) {
    CAPTURE(some_unreadable);
    ModelStore store;
    for (const char* table : {"state", "tsdb-1h"})
      REQUIRE(store.CreateTable({table, {{"t"}}, false}).ok());
    const codec::RollupTables tables = TestTables();
    const auto open = [&] {
      return *RollupState::Open(store, "state", {&tables.levels[2]}, {*RollupIds::Of(tables), {}},
                                10);
    };
    auto state = open();
    REQUIRE(state->Begin(kEnd).ok());
    REQUIRE(state->SetComplete().ok());
    for (uint32_t hour = kRolledDay; hour < kEnd; hour += kHour) {
      const bool unreadable = some_unreadable && hour == kUnreadableDay + 5 * kHour;
      REQUIRE(state->MarkOdd("m", hour, unreadable ? Odd::kUnreadable : Odd::kExtras).ok());
    }
    CHECK(state->markers() == RollupState::kOddOfMetric);
    // This metric has only one such hour.
    REQUIRE(state->MarkOdd("other", kRolledDay, Odd::kExtras).ok());
    CHECK(state->markers() == RollupState::kOddOfMetric + 1);
    for (const bool next_process : {false, true}) {
      CAPTURE(next_process);
      if (next_process) state = open();
      const query::RolledHours hours = state->Of("m", {kRolledDay, kEnd});
      REQUIRE(hours.levels.size() == 1);
      CHECK(hours.levels[0].end_s == kOddDay);
      CHECK(hours.changed.size() == RollupState::kOddOfMetric);
      CHECK(state->Of("other", {kRolledDay, kEnd}).levels[0].end_s == kEnd);
      CHECK(state->CountsAsOdd("m", kOddDay));
      CHECK_FALSE(state->CountsAsOdd("m", kOddDay - 1));
      CHECK_FALSE(state->CountsAsOdd("other", kOddDay));
    }
    // A change sets a marker. The marker is removed when the rollups of the hour are computed.
    const ChangedRows change{"m", kEnd - kHour};
    REQUIRE(state->BeforeChange(change).ok());
    state->AfterChange(change);
    const auto marker = [&] {
      for (const RollupState::DirtyHour& each : state->Repairable(1000))
        if (each.base == change.base) return each;
      return RollupState::DirtyHour{};
    }();
    REQUIRE(marker.base == change.base);
    CHECK(*state->Unmark(marker));
    // The hours of a previous process's markers are recomputed once more, and rollups still cannot
    // represent all their data.
    for (const RollupState::DirtyHour& each : state->Repairable(1000))
      state->GiveUp(each, Odd::kExtras);
    CHECK(*state->KeepBefore("m", kEnd) == (some_unreadable ? kUnreadableDay : kEnd));
    CHECK(state->Of("m", {kRolledDay, kEnd}).changed.empty());
    CHECK(state->Of("m", {kRolledDay, kEnd}).levels[0].end_s ==
          (some_unreadable ? kUnreadableDay : kEnd));
    REQUIRE(state->Begin(kEnd).ok());
    CHECK_FALSE(state->CountsAsOdd("m", kEnd));
  }
}

/// A store that calls a function while a first marker is removed, and delays the next one.
class TurnStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    const bool put = rows[0].changes[0].kind == CellChange::Kind::kPut;
    if (rows[0].key.starts_with("kept")) LetGoWrong();
    if (rows[0].key.starts_with("mark") && other.joinable() && put) let_go.get_future().wait();
    if (rows[0].key.starts_with("mark") && !other.joinable() && !put) {
      other = std::thread(meanwhile);
      LetGoWrong();
    }
    return ModelStore::MutateRows(table, rows);
  }
  std::function<void()> meanwhile;
  std::thread other;
  std::promise<void> let_go;
};

TEST_CASE_FIXTURE(Known<TurnStore>,
                  "a change that waits for a marker also waits for the record of kept rollups") {
  const ChangedRows rows{"m", kRolledDay + 3 * kHour};
  REQUIRE(state->BeforeChange(rows).ok());
  state->AfterChange(rows);
  const auto marked = state->Repairable(1);
  REQUIRE(marked.size() == 1);
  store.meanwhile = [&] { CHECK(state->BeforeChange(rows).ok()); };
  CHECK(*state->Unmark(marked[0]));
  const uint32_t kept = *state->KeepBefore("m", kOpenDay);
  store.let_go.set_value();
  store.other.join();
  // The change and KeepBefore run concurrently. Whichever comes first, kept rollups have no
  // markers.
  CHECK((kept == kOpenDay || kept == kRolledDay));
  CHECK(state->markers() == (kept == kOpenDay ? 0 : 1));
  state->AfterChange(rows);
  CHECK(state->markers() == (kept == kOpenDay ? 0 : 1));
}

TEST_CASE("work that fails at any allocation keeps no change of its hour waiting") {
  const ChangedRows rows{"m", kRolledDay + 3 * kHour};
  using State = Known<ModelStore>;
  const std::function<Status(State&)> works[] = {
      [&](State& known) { return known.state->BeforeChange(rows); },
      [&](State& known) { return known.state->KeepBefore("m", kOpenDay).status(); },
      [&](State& known) { return known.state->MarkOdd("m", rows.base, Odd::kExtras); },
      [&](State& known) { return known.state->Unmark(known.state->Repairable(1)[0]).status(); },
  };
  for (const auto& work : works) {
    bool failed = true;
    for (int64_t n = 0; failed; ++n) {
      CAPTURE(n);
      State known;
      if (&work == &works[3]) {
        REQUIRE(known.state->BeforeChange(rows).ok());
        known.state->AfterChange(rows);
      }
      const bool ok = Starve(n, &failed, [&] { return work(known); });
      if (!ok) CHECK(known.state->KeptBefore("m") == 0);
      REQUIRE(known.state->BeforeChange(rows)
                  .ok());  // after a failed KeepBefore, BeforeChange must not wait for ever
      known.state->AfterChange(rows);
      CHECK(known.state->markers() == (known.state->KeptBefore("m") == 0 ? 1 : 0));
    }
  }
}

}  // namespace
}  // namespace hg::tsd
