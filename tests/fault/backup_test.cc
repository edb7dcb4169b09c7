// Backups: a backup contains everything that was stored when it was requested, an unfinished backup
// is never accepted as complete, and no failure damages the previous backup.

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>

#include "storage/engine/embedded.h"
#include "storage/engine/engine_backup.h"
#include "storage/engine/engine_check.h"
#include "tests/fault/faulty_file.h"
#include "tests/fault/workload.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

EmbeddedOptions Options(const std::string& path) {
  EmbeddedOptions options;
  options.path = path;
  options.background = false;
  options.enable_compaction = false;
  options.sync_interval_ms = 3'600'000;
  options.log_file_bytes = 4096;
  return options;
}

std::unique_ptr<Embedded> Open(FileSystem& disk, const std::string& path) {
  static ManualClock clock{1'700'000'000'000};
  auto store = Embedded::Open(Options(path), disk, clock);
  INFO(store.status().ToString());
  REQUIRE(store.ok());
  return std::move(*store);
}

void Write(Embedded& store, uint64_t first, uint64_t end) {
  for (uint64_t step = first; step < end; ++step) {
    REQUIRE(WriteSome(step, store.cells(), store.points()).ok());
  }
}

std::string Shown(FileSystem& disk, const std::string& path) {
  return DumpCells(Open(disk, path)->cells());
}

Status Restore(FileSystem& disk, const std::string& backup, const std::string& folder) {
  return engine::Restore(disk, backup, folder, {}).status();
}

TEST_CASE(
    "a restored backup equals the store at the time of the backup, including unflushed writes") {
  FaultyFileSystem disk(1);
  auto store = Open(disk, "data");
  Write(*store, 1, 30);
  REQUIRE(store->cells().Flush().ok());
  Write(*store, 30, 60);
  const std::string then = DumpCells(store->cells());
  const auto made = store->maintenance().Backup("copy", {});
  INFO(made.status().ToString());
  REQUIRE(made.ok());
  CHECK(made->files == made->files_total);
  CHECK(made->linked == made->files);
  Write(*store, 60, 90);
  CHECK(Restore(disk, "copy", "restored").ok());
  CHECK(Shown(disk, "restored") == then);
  CHECK(DumpCells(store->cells()) != then);
  const auto checked = engine::CheckDirectory(disk, "copy");
  REQUIRE(checked.ok());
  CHECK(checked->files == made->files + 1);
  CHECK(checked->damages.empty());
}

TEST_CASE(
    "a second backup to a folder copies only new files and removes files that were merged away") {
  FaultyFileSystem disk(1);
  auto store = Open(disk, "data");
  Write(*store, 1, 30);
  const auto first = store->maintenance().Backup("copy", {});
  REQUIRE(first.ok());
  Write(*store, 30, 60);
  const auto second = store->maintenance().Backup("copy", {});
  REQUIRE(second.ok());
  CHECK(second->kept == first->files);
  CHECK(second->linked == second->files - first->files);
  CHECK(second->linked > 0);
  REQUIRE(store->cells().Compact().ok());
  const auto third = store->maintenance().Backup("copy", {});
  REQUIRE(third.ok());
  CHECK(third->kept == 0);
  const auto names = disk.List("copy");
  CHECK(names->size() == third->files + 2);  // IDENTITY, BACKUP
  CHECK(Restore(disk, "copy", "restored").ok());
  CHECK(Shown(disk, "restored") == DumpCells(store->cells()));
}

TEST_CASE("without hard links a backup copies the bytes of the files, each file once") {
  FaultyFileSystem disk(1);
  disk.CannotLink(true);
  auto store = Open(disk, "data");
  Write(*store, 1, 30);
  const auto first = store->maintenance().Backup("copy", {});
  REQUIRE(first.ok());
  CHECK(first->copied == first->files);
  CHECK(first->bytes == first->bytes_total);
  Write(*store, 30, 60);
  const auto second = store->maintenance().Backup("copy", {});
  REQUIRE(second.ok());
  CHECK(second->copied == second->files - first->files);
  CHECK(Restore(disk, "copy", "restored").ok());
  CHECK(Shown(disk, "restored") == DumpCells(store->cells()));
}

TEST_CASE(
    "if any call of a backup fails, the folder has no backup or a complete one, and a retry "
    "completes it") {
  for (const bool links : {true, false}) {
    for (uint64_t n = 1;; ++n) {
      CAPTURE(links);
      CAPTURE(n);
      FaultyFileSystem disk(n);
      disk.CannotLink(!links);
      auto store = Open(disk, "data");
      Write(*store, 1, 40);
      REQUIRE(store->cells().Flush().ok());
      const std::string then = DumpCells(store->cells());
      disk.FailCall(n);
      const Status made = store->maintenance().Backup("copy", {}).status();
      const bool reached = disk.failed();
      disk.FailCall(0);
      disk.PowerCutBelow("copy");
      const Status restored = Restore(disk, "copy", "early");
      if (made.ok()) {
        CHECK(restored.ok());
      } else if (!restored.ok()) {
        CHECK(restored.code() == StatusCode::kInvalidArgument);
      }
      if (restored.ok()) CHECK(Shown(disk, "early") == then);
      const auto again = store->maintenance().Backup("copy", {});
      INFO(again.status().ToString());
      REQUIRE(again.ok());
      REQUIRE(Restore(disk, "copy", "late").ok());
      CHECK(Shown(disk, "late") == then);
      if (!reached) {
        CHECK(n > 10);
        break;
      }
    }
  }
}

TEST_CASE("an interrupted later backup keeps the previous backup") {
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    auto store = Open(disk, "data");
    Write(*store, 1, 30);
    REQUIRE(store->maintenance().Backup("copy", {}).ok());
    const std::string before = DumpCells(store->cells());
    Write(*store, 30, 60);
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());
    const std::string after = DumpCells(store->cells());
    disk.FailCall(n);
    const Status made = store->maintenance().Backup("copy", {}).status();
    const bool reached = disk.failed();
    disk.FailCall(0);
    disk.PowerCutBelow("copy");
    REQUIRE(Restore(disk, "copy", "restored").ok());
    const std::string shown = Shown(disk, "restored");
    CHECK((shown == after || (!made.ok() && shown == before)));
    if (!reached) break;
  }
}

TEST_CASE("a store does not open after an interrupted restore, and another restore completes it") {
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    std::string then;
    {
      auto store = Open(disk, "data");
      Write(*store, 1, 40);
      REQUIRE(store->maintenance().Backup("copy", {}).ok());
      then = DumpCells(store->cells());
    }
    disk.FailCall(n);
    const Status restored = Restore(disk, "copy", "restored");
    const bool reached = disk.failed();
    disk.FailCall(0);
    disk.PowerCutBelow("restored");
    if (!restored.ok()) {
      const bool begun = disk.Exists("restored/" + std::string(engine::kRestoringName));
      if (begun && !disk.Exists("restored/MANIFEST")) {
        CHECK(Embedded::Open(Options("restored"), disk).status().code() == StatusCode::kCorruption);
      }
      const Status again = Restore(disk, "copy", "restored");
      CHECK((again.ok() || disk.Exists("restored/MANIFEST")));
    }
    CHECK(Shown(disk, "restored") == then);
    if (!reached) break;
  }
}

// Canary: power failures reveal everything that a backup does not sync.
TEST_CASE("the tests detect a backup that does not sync its files or their names") {
  for (const SyncSite site : {SyncSite::kReplacement, SyncSite::kFolderOfFiles}) {
    size_t lost = 0;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      for (const bool lies : {false, true}) {
        FaultyFileSystem disk(seed);
        disk.CannotLink(true);
        auto store = Open(disk, "data");
        Write(*store, 1, 40);
        REQUIRE(store->cells().Flush().ok());
        disk.LieAboutSyncAt(lies ? site : SyncSite::kCount);
        REQUIRE(store->maintenance().Backup("copy", {}).ok());
        disk.PowerCutBelow("copy");
        const Status restored = Restore(disk, "copy", "restored");
        if (!lies) CHECK(restored.ok());
        lost += restored.ok() ? 0 : 1;
      }
    }
    CAPTURE(static_cast<int>(site));
    CHECK(lost > 0);
  }
}

TEST_CASE(
    "a backup below the folder of namespaces is refused, because its files would be removed") {
  FaultyFileSystem disk(1);
  auto store = Open(disk, "data");
  for (const char* place : {"data/namespaces/bk", "data/namespaces", "data/x/../namespaces/bk/"})
    CHECK(store->maintenance().Backup(place, {}).status().code() == StatusCode::kInvalidArgument);
  CHECK(store->maintenance().Backup("data/bk", {}).ok());
}

TEST_CASE("restore and backup refuse folders with other content") {
  FaultyFileSystem disk(1);
  auto store = Open(disk, "data");
  Write(*store, 1, 20);
  REQUIRE(disk.Open("full/notes.txt", OpenMode::kCreate).ok());
  const auto refused = store->maintenance().Backup("full", {}).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("notes.txt") != std::string_view::npos);
  CHECK(store->maintenance().Backup("data", {}).status().code() == StatusCode::kBusy);
  REQUIRE(store->maintenance().Backup("copy", {}).ok());
  CHECK(Restore(disk, "copy", "full").code() == StatusCode::kInvalidArgument);
  CHECK(Restore(disk, "nothing", "new").code() == StatusCode::kInvalidArgument);
  CHECK(Restore(disk, "copy", "new").ok());
  CHECK(Restore(disk, "copy", "new").code() == StatusCode::kInvalidArgument);
  // The restored store is independent: its files are not those of the first store.
  auto other = Open(disk, "new");
  CHECK(other->maintenance().Backup("copy", {}).status().code() == StatusCode::kInvalidArgument);
  // A backup is not a data directory.
  CHECK(Embedded::Open(Options("copy"), disk).status().code() == StatusCode::kCorruption);
}

TEST_CASE("a damaged backup is refused, and the error names the file") {
  FaultyFileSystem disk(1);
  auto store = Open(disk, "data");
  disk.CannotLink(true);
  Write(*store, 1, 40);
  REQUIRE(store->maintenance().Backup("copy", {}).ok());
  const auto names = disk.List("copy");
  for (const std::string& name : *names) {
    if (name == engine::kIdentityName) continue;
    CAPTURE(name);
    disk.FlipBit("copy/" + name, 3, 2);
    const Status refused = Restore(disk, "copy", "r" + name);
    CHECK(refused.code() == StatusCode::kCorruption);
    CHECK(refused.message().find(name) != std::string_view::npos);
    disk.FlipBit("copy/" + name, 3, 2);
  }
}

// Returns the first keys of the regions, and the number of files that each shares with others.
std::string Regions(Store& cells) {
  const auto regions = cells.Regions("tsdb");
  REQUIRE(regions.ok());
  std::string text;
  for (const RegionInfo& region : *regions) {
    text += ToHex(region.start) + " " + std::to_string(region.references) + ",";
  }
  return text;
}

// A store whose table was split in two. The files, one per day, are still those of the whole table.
std::unique_ptr<Embedded> DividedStore(FaultyFileSystem& disk) {
  auto store = Open(disk, "data");
  Write(*store, 1, 40);
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->cells().Split("tsdb", "", Bytes("\0\0\2", 3)).ok());
  return store;
}

TEST_CASE("a file shared by two regions is copied once, and both have it in the restored store") {
  FaultyFileSystem disk(1);
  auto store = DividedStore(disk);
  REQUIRE(Regions(store->cells()) == " 2,000002 2,");
  const auto first = store->maintenance().Backup("copy", {});
  REQUIRE(first.ok());
  const std::string then = DumpCells(store->cells());
  REQUIRE(Restore(disk, "copy", "restored").ok());
  {
    auto copy = Open(disk, "restored");
    CHECK(Regions(copy->cells()) == " 2,000002 2,");
    CHECK(DumpCells(copy->cells()) == then);
    // The references stay correct when the shared files are released.
    REQUIRE(copy->cells().Compact().ok());
    CHECK(Regions(copy->cells()) == " 0,000002 0,");
    CHECK(DumpCells(copy->cells()) == then);
  }
  // After merging the regions again, a backup has the new files.
  REQUIRE(store->cells().MergeRegions("tsdb", Bytes("\0\0\2", 3)).ok());
  REQUIRE(store->maintenance().Backup("copy", {}).ok());
  REQUIRE(Restore(disk, "copy", "joined").ok());
  CHECK(Regions(Open(disk, "joined")->cells()) == " 0,");
  CHECK(Shown(disk, "joined") == then);
}

TEST_CASE("a backup between two merges of a split region is complete") {
  bool half = false;
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    auto store = DividedStore(disk);
    const std::string then = DumpCells(store->cells());
    disk.FailCall(n);
    (void)store->cells().CompactTable("tsdb");
    const bool reached = disk.failed();
    disk.FailCall(0);
    const std::string regions = Regions(store->cells());
    half = half || regions == " 0,000002 2,";
    const auto made = store->maintenance().Backup("copy", {});
    INFO(made.status().ToString());
    REQUIRE(made.ok());
    REQUIRE(Restore(disk, "copy", "restored").ok());
    CHECK(Regions(Open(disk, "restored")->cells()) == regions);
    CHECK(Shown(disk, "restored") == then);
    if (!reached) break;
  }
  CHECK(half);
}

// A writer writes one point per second to one series while flushes, merges and region changes run.
TEST_CASE(
    "a backup of a store under load has all points acknowledged before it, and no later "
    "point without the earlier ones") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path() + "/data");
  options.background = true;
  options.log_max_bytes = 20'000;
  auto opened = Embedded::Open(options);
  REQUIRE(opened.ok());
  Embedded& store = **opened;
  const auto series = store.points().Register(WorkloadTsuid(0));
  REQUIRE(series.ok());
  std::atomic<int64_t> acknowledged{0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int64_t i = 0; !stop && i < 500'000; ++i) {
      const PointEntry entry =
          MakePointEntry(*series, Timestamp{int64_t{kWorkloadBase} + i}, PointValue::Int(i % 100));
      const auto position = store.points().Append({&entry, 1});
      if (!position.ok()) continue;
      store.points().Commit(*position, [](const Status&) {});
      acknowledged = i + 1;
    }
  });
  std::atomic<int> splits{0};
  std::thread divider([&] {
    while (!stop) {
      const auto at = store.cells().Split("tsdb", "", {});
      if (at.ok()) {
        ++splits;
        (void)store.cells().MergeRegions("tsdb", *at);
      } else {
        (void)store.cells().CompactTable("tsdb");
      }
    }
  });
  for (int round = 0; round < 6 || (splits == 0 && round < 1000); ++round) {
    const int64_t before = acknowledged;
    REQUIRE(store.maintenance().Backup(folder.path() + "/copy", {}).ok());
    const std::string restored = folder.path() + "/restored" + std::to_string(round);
    REQUIRE(Restore(PosixFileSystem(), folder.path() + "/copy", restored).ok());
    auto copy = Embedded::Open(Options(restored));
    REQUIRE(copy.ok());
    PointScanSpec spec;
    spec.metric = WorkloadTsuid(0).substr(0, 3);
    auto scan = (*copy)->points().Scan(spec, {});
    REQUIRE(scan.ok());
    RowHour row;
    int64_t next = 0;
    bool gapless = true;
    for (auto more = (*scan)->Next(&row); more.ok() && *more; more = (*scan)->Next(&row)) {
      for (const auto offset : row.offset_ms) {
        gapless = gapless && int64_t{row.base} - kWorkloadBase + offset / 1000 == next;
        ++next;
      }
    }
    CHECK(gapless);
    CHECK(next >= before);
  }
  stop = true;
  writer.join();
  divider.join();
  CHECK(acknowledged > 0);
  CHECK(splits > 0);
}

}  // namespace
}  // namespace hg
