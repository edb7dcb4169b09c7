// Several writes of which only the last one is waited for (Store::CommittedLater).

#include <doctest/doctest.h>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/commit_and_wait.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

std::unique_ptr<Embedded> Open(FaultyFileSystem& disk) {
  static const ManualClock clock(1'700'003'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.durability = Durability::kSynced;
  options.sync_interval_ms = 3'600'000;  // only a waiting caller makes the log write
  options.log_file_bytes = 1 << 20;
  auto opened = Embedded::Open(options, disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

// The writes that assign ids to a series.
void Name(Store& cells) {
  REQUIRE(cells.Increment("tsdb-uid", "c", "id", "metrics", 1).ok());
  const auto put = cells.CompareAndMutate("name", "metrics", std::nullopt, "tsdb-uid",
                                          {"r", {PutCell("name", "metrics", "m")}});
  REQUIRE((put.ok() && *put));
  REQUIRE(cells.Mutate("tsdb-uid", {{"m", {PutCell("id", "metrics", "1")}}}).ok());
}

Status CommitAll(Embedded& store) {
  const auto position = store.points().Append({});
  if (!position.ok()) return position.status();
  return CommitAndWait(store.points(), *position);
}

Status StorePoint(Embedded& store) {
  const auto series = store.points().Register(Bytes("\0\0\1\0\0\1\0\0\1", 9));
  if (!series.ok()) return series.status();
  const PointEntry entry = MakePointEntry(*series, Timestamp{1'700'002'800}, PointValue::Int(1));
  const auto position = store.points().Append({&entry, 1});
  if (!position.ok()) return position.status();
  return CommitAndWait(store.points(), *position);
}

size_t RowsOfNames(FaultyFileSystem& disk, std::unique_ptr<Embedded> store) {
  disk.FailAllCalls();
  store.reset();
  disk.PowerCut();
  disk.FailCall(0);
  store = Open(disk);
  size_t rows = 0;
  for (const char* key : {"c", "r", "m"}) {
    const auto row = store->cells().Get("tsdb-uid", key);
    REQUIRE(row.ok());
    rows += row->cells.size();
  }
  return rows;
}

TEST_CASE("writes that are committed later do not wait for a disk and can be read at once") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  disk.FailCall(0);
  Store& later = store->cells().CommittedLater();
  CHECK(&later.CommittedLater() == &later);
  Name(later);
  REQUIRE(later.Append("tsdb-uid", "n", "id", "metrics", "2").ok());
  CHECK(disk.calls() == 0);
  CHECK(store->cells().Get("tsdb-uid", "m")->cells.size() == 1);
  REQUIRE(store->cells().Mutate("tsdb-uid", {{"o", {PutCell("id", "metrics", "3")}}}).ok());
  CHECK(disk.calls() > 0);
}

TEST_CASE(
    "committing points also commits the deferred writes before them, so that they survive a power "
    "failure") {
  FaultyFileSystem disk(2);
  auto store = Open(disk);
  Name(store->cells().CommittedLater());
  REQUIRE(StorePoint(*store).ok());
  CHECK(RowsOfNames(disk, std::move(store)) == 3);
}

TEST_CASE("an empty batch of points commits the writes before it") {
  FaultyFileSystem disk(4);
  auto store = Open(disk);
  Name(store->cells().CommittedLater());
  REQUIRE(CommitAll(*store).ok());
  CHECK(RowsOfNames(disk, std::move(store)) == 3);
}

TEST_CASE("uncommitted writes are lost in a power failure") {
  FaultyFileSystem disk(3);
  auto store = Open(disk);
  Name(store->cells().CommittedLater());
  CHECK(RowsOfNames(disk, std::move(store)) == 0);
}

}  // namespace
}  // namespace hg
