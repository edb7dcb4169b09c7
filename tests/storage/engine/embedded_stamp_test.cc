// The times that the store itself assigns to cells.

#include <doctest/doctest.h>

#include <optional>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  return options;
}

Status PutName(Embedded& store, const Bytes& key, const Bytes& value,
               std::optional<int64_t> time = {}) {
  CellChange put = PutCell("name", "metrics", value);
  put.timestamp_ms = time;
  return store.cells().Mutate("tsdb-uid", {{key, {put}}});
}

Bytes Name(Embedded& store, const Bytes& key) {
  auto row = store.cells().Get("tsdb-uid", key);
  return row.ok() && row->cells.size() == 1 ? row->cells[0].value : Bytes("none");
}

TEST_CASE("many mutations within a millisecond do not run ahead of the clock, also over restarts") {
  FaultyFileSystem disk(1);
  ManualClock clock(kNow);
  for (const bool flush : {false, true}) {
    auto store = Embedded::Open(Options(), disk, clock);
    REQUIRE(store.ok());
    for (int i = 0; i < 5000; ++i) REQUIRE(PutName(**store, "a", std::to_string(i)).ok());
    CHECK(Name(**store, "a") == "4999");
    CHECK((*store)->cells().Get("tsdb-uid", "a")->cells[0].timestamp_ms == kNow);
    if (flush) REQUIRE((*store)->cells().Flush().ok());
    store->reset();
    store = Embedded::Open(Options(), disk, clock);
    REQUIRE(store.ok());
    REQUIRE(PutName(**store, "b", "given").ok());
    REQUIRE(PutName(**store, "b", "explicit", kNow).ok());
    CHECK(Name(**store, "b") == "explicit");
  }
}

TEST_CASE("deletes of many rows within a millisecond hide no later put that has its own time") {
  FaultyFileSystem disk(1);
  ManualClock clock(kNow);
  auto store = Embedded::Open(Options(), disk, clock);
  REQUIRE(store.ok());
  for (int i = 0; i < 30'000; ++i) {
    REQUIRE((*store)->cells().DeleteRow("tsdb-uid", "gone" + std::to_string(i)).ok());
  }
  const TableDescriptor versions{"v", {{"f"}}, false, {}, {}};
  REQUIRE((*store)->cells().CreateTable(versions).ok());
  REQUIRE((*store)->cells().DeleteRow("v", "a").ok());
  CellChange put = PutCell("f", "q", "value");
  put.timestamp_ms = kNow + 500;
  REQUIRE((*store)->cells().Mutate("v", {{"a", {put}}}).ok());
  CHECK((*store)->cells().Get("v", "a")->cells.size() == 1);
}

TEST_CASE(
    "a put after a delete is seen, even if the clock stands still or steps back, or the "
    "store restarts") {
  FaultyFileSystem disk(1);
  ManualClock clock(kNow);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    auto store = Embedded::Open(Options(), disk, clock);
    REQUIRE(store.ok());
    REQUIRE(PutName(**store, "a", "old").ok());
    REQUIRE((*store)->cells().DeleteRow("tsdb-uid", "a").ok());
    CHECK(Name(**store, "a") == "none");
    if (round % 2 == 1) REQUIRE((*store)->cells().Flush().ok());
    if (round >= 2) {
      store->reset();
      store = Embedded::Open(Options(), disk, clock);
      REQUIRE(store.ok());
    }
    if (round >= 4) clock.AdvanceMs(-1000);
    REQUIRE(PutName(**store, "a", "new").ok());
    CHECK(Name(**store, "a") == "new");
  }
}

}  // namespace
}  // namespace hg
