// Damaged files of an open store: the store rewrites them and continues to work meanwhile.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "storage/engine/engine_check.h"
#include "tests/fault/damaged_store.h"

namespace hg {
namespace {

bool Tells(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(), [part](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
}

// Damages the middle of a file of the open store, repairs it and checks what is left.
void DamageAndMend(FaultyFileSystem& disk, Embedded& store, const std::string& kind) {
  const std::string name = LargestFile(disk, kind);
  const size_t size = ReadWholeFile(disk, "data/" + name)->size();
  REQUIRE(size > 100'000);
  disk.FlipBit("data/" + name, size / 2, 3);
  const auto damaged = store.maintenance().Check();
  REQUIRE(damaged->damages.size() == 1);
  CHECK(store.cells().Compact().code() == StatusCode::kCorruption);
  const size_t readable = CountRows(store).readable;
  CHECK(readable > 200);
  CHECK(readable < 400);

  // Data in memory is not affected.
  const Bytes key = Keys()[200];
  REQUIRE(store.cells().Mutate("tsdb", {{key, {PutCell("t", Bytes("\1\0\6", 3), "new")}}}).ok());
  const auto repaired = store.maintenance().Repair();
  INFO(repaired.status().ToString());
  REQUIRE(repaired.ok());
  CHECK(repaired->lost == std::vector<std::string>{damaged->damages[0].ToString()});
  CHECK(Tells(repaired->done, "data/" + name + " is set aside as data/lost/" + name));
  CHECK(disk.Exists("data/lost/" + name));
  CHECK(store.maintenance().Check()->damages.empty());
  CHECK(store.cells().Get("tsdb", key, "t", {Bytes("\1\0\6", 3)})->cells.size() == 1);
  const RowCount count = CountRows(store);
  CHECK(count.readable == 400);
  // A lookup of the last row before a damaged block also reads that block. So `readable` does not
  // count this row. The row with the new cell does not count as complete.
  CHECK(count.complete + 1 >= readable);
  CHECK(count.complete < 400);
  CHECK(store.cells().Compact().ok());
  CHECK(CountRows(store).complete == count.complete);
  const auto again = store.maintenance().Repair();
  REQUIRE(again.ok());
  CHECK(again->done.empty());
  CHECK(again->lost.empty());
}

TEST_CASE(
    "an open store rewrites a file with a damaged block without that block, and continues to "
    "serve") {
  for (const char* kind : {".points", ".cells"}) {
    for (const bool shared : {false, true}) {
      CAPTURE(kind);
      CAPTURE(shared);
      FaultyFileSystem disk(1);
      size_t complete = 0;
      {
        auto store = Open(disk);
        WriteManyRows(*store);
        if (shared) REQUIRE(store->cells().Split("tsdb", "", Bytes("\0\0\2", 3)).ok());
        DamageAndMend(disk, *store, kind);
        complete = CountRows(*store).complete;
      }
      CHECK(engine::CheckDirectory(disk, "data")->damages.empty());
      CHECK(CountRows(*Open(disk)).complete == complete);
    }
  }
}

TEST_CASE(
    "an open store repairs a damaged index and a damaged series table without losses, "
    "because both are in memory") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  WriteManyRows(*store);
  const std::string points = LargestFile(disk, ".points");
  const std::string series = SeriesFile(disk);
  disk.FlipBit("data/" + points, ReadWholeFile(disk, "data/" + points)->size() - 10, 0);
  disk.FlipBit("data/" + series, 3, 1);
  CHECK(store->maintenance().Check()->damages.size() == 2);
  {
    FaultyFileSystem killed = disk.Copy();
    CHECK(TryOpen(killed).status().code() == StatusCode::kCorruption);
  }
  const auto repaired = store->maintenance().Repair();
  INFO(repaired.status().ToString());
  REQUIRE(repaired.ok());
  CHECK(repaired->lost.empty());
  CHECK(Tells(repaired->done, "data/" + points + " at "));
  CHECK(Tells(repaired->done, "data/" + points + " is set aside as data/lost/"));
  CHECK(Tells(repaired->done, "data/" + series + " is set aside as data/lost/"));
  CHECK(Tells(repaired->done, "written anew from memory: 400 series"));
  CHECK(store->maintenance().Check()->damages.empty());
  CHECK(CountRows(*store).complete == 400);
  store.reset();
  CHECK(engine::CheckDirectory(disk, "data")->damages.empty());
  store = Open(disk);
  CHECK(CountRows(*store).complete == 400);
  CHECK(store->Stats().series == 400);
}

TEST_CASE("a deleted file that is still open is rewritten") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  WriteManyRows(*store);
  const std::string points = LargestFile(disk, ".points");
  REQUIRE(disk.Remove("data/" + points).ok());
  CHECK(store->maintenance().Check()->damages.size() == 1);
  const auto repaired = store->maintenance().Repair();
  REQUIRE(repaired.ok());
  CHECK(repaired->lost.empty());
  store.reset();
  CHECK(CountRows(*Open(disk)).complete == 400);
}

TEST_CASE("points written during a repair are kept") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  WriteManyRows(*store);
  const std::string name = LargestFile(disk, ".points");
  const std::string series = SeriesFile(disk);
  std::atomic<bool> stop = false;
  std::atomic<int> acknowledged = 0;
  // The files to damage are chosen while the writer pauses. Otherwise the chosen file could be one
  // that is not completely written or one that is just removed.
  std::mutex turn;
  std::atomic<bool> pause = false;
  std::thread writer([&] {
    for (int i = 0; !stop && i < 100'000; ++i) {
      while (pause) std::this_thread::yield();
      const std::lock_guard lock(turn);
      Bytes tsuid;
      for (const uint64_t id : {7, 1, 1000 + i}) AppendBig(&tsuid, id, 3);
      const Bytes key = codec::MakeRowKey(KeyLayout(), tsuid, kWorkloadBase);
      if (!store->cells().Mutate("tsdb", {{key, {PutCell("t", Bytes(2, '\0'), "\5")}}}).ok())
        return;
      if (i % 50 == 0 && !store->cells().Flush().ok()) return;
      ++acknowledged;
    }
  });
  while (acknowledged < 100) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    pause = true;
    {
      const std::lock_guard lock(turn);
      disk.FlipBit("data/" + LargestFile(disk, ".points"), 5000, 3);
      disk.FlipBit("data/" + SeriesFile(disk), 3, 1);
    }
    pause = false;
    const auto repaired = store->maintenance().Repair();
    INFO(repaired.status().ToString());
    CHECK(repaired.ok());
    CHECK(store->maintenance().Check()->damages.empty());
  }
  stop = true;
  writer.join();
  store.reset();
  store = Open(disk);
  int found = 0;
  for (int i = 0; i < acknowledged; ++i) {
    Bytes tsuid;
    for (const uint64_t id : {7, 1, 1000 + i}) AppendBig(&tsuid, id, 3);
    const auto row =
        store->cells().Get("tsdb", codec::MakeRowKey(KeyLayout(), tsuid, kWorkloadBase));
    REQUIRE(row.ok());
    found += row->cells.size() == 1 ? 1 : 0;
  }
  CHECK(found == acknowledged);
}

TEST_CASE("a repair that fails anywhere changes nothing, and a later call completes it") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  WriteManyRows(*store);
  const std::string name = LargestFile(disk, ".points");
  disk.FlipBit("data/" + name, ReadWholeFile(disk, "data/" + name)->size() / 2, 3);
  const size_t readable = CountRows(*store).readable;
  uint64_t failed = 0;
  for (bool mended = false; !mended; ++failed) {
    REQUIRE(failed < 1000);
    disk.FailCall(failed + 1);
    mended = store->maintenance().Repair().ok();
    disk.FailCall(0);
    CHECK(CountRows(*store).readable == (mended ? 400 : readable));
  }
  CHECK(failed > 5);
  store.reset();
  CHECK(engine::CheckDirectory(disk, "data")->damages.empty());
  CHECK(CountRows(*Open(disk)).readable == 400);
}

}  // namespace
}  // namespace hg
