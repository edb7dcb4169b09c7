// Namespaces: each has a folder for its files, and backup, check and repair handle these folders.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "storage/engine/embedded.h"
#include "storage/engine/engine_backup.h"
#include "storage/engine/engine_check.h"
#include "storage/engine/offline_repair.h"
#include "storage/engine/stored_files.h"
#include "storage/for_each_row.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

// The table of points is in the namespace "one".
EmbeddedOptions Options(const std::string& path) {
  EmbeddedOptions options;
  options.path = path;
  options.background = false;
  options.log_file_bytes = 1 << 20;
  options.tables = EmbeddedOptions::DefaultTables("one:tsdb");
  return options;
}

std::unique_ptr<Embedded> Open(FileSystem& disk, const std::string& path) {
  static const ManualClock clock(1'000'000);
  auto opened = Embedded::Open(Options(path), disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

std::string Dump(Store& store) {
  std::string text;
  for (const char* table : {"one:t", "two:t", "one:tsdb", "tsdb-uid"}) {
    ScanSpec spec;
    spec.table = table;
    REQUIRE(ForEachRow(store, spec, [&](const Row& row) {
              for (const Cell& cell : row.cells) {
                text += std::string(table) + " " + ToHex(row.key) + " " + cell.family + " " +
                        ToHex(cell.qualifier) + " " + ToHex(cell.value) + "\n";
              }
              return Status();
            }).ok());
  }
  return text;
}

// Returns the extensions of the files with their folders, sorted: "cells namespaces/one/cells ".
std::string Places(FileSystem& disk, const std::string& folder) {
  const auto names = engine::PartFilesIn(disk, folder);
  REQUIRE(names.ok());
  std::multiset<std::string> places;
  for (const std::string& name : *names) {
    const size_t slash = name.rfind('/');
    places.insert((slash == std::string::npos ? "" : name.substr(0, slash + 1)) +
                  name.substr(name.rfind('.') + 1));
  }
  std::string text;
  for (const std::string& place : places) text += place + " ";
  return text;
}

void Fill(Store& store) {
  REQUIRE(store.CreateTable({"one:t", {{"f"}}, false}).ok());
  REQUIRE(store.CreateTable({"two:t", {{"f"}}, false}).ok());
  REQUIRE(store.Mutate("one:t", {{"k", {PutCell("f", "q", "1")}}}).ok());
  REQUIRE(store.Mutate("two:t", {{"k", {PutCell("f", "q", "2")}}}).ok());
  REQUIRE(store.Mutate("tsdb-uid", {{"k", {PutCell("id", "q", "3")}}}).ok());
  const Bytes key("\0\0\1\x54\x0B\xD9\x10\0\0\1\0\0\1", 13);
  REQUIRE(store.Mutate("one:tsdb", {{key, {PutCell("t", Bytes("\0\0", 2), "\7")}}}).ok());
}

// Files of the registry of series and of tsdb-uid in the folder itself.
constexpr char kFlushed[] =
    "cells cells namespaces/one/cells namespaces/one/points namespaces/two/cells ";

TEST_CASE("each namespace has a folder for its files") {
  FaultyFileSystem disk(1);
  std::string dump;
  {
    auto store = Open(disk, "d");
    Fill(store->cells());
    dump = Dump(store->cells());
    REQUIRE(store->cells().Flush().ok());
    CHECK(Places(disk, "d") == kFlushed);
    CHECK(Dump(store->cells()) == dump);
    Fill(store->cells());
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());
    CHECK(Places(disk, "d") == kFlushed);
    CHECK(Dump(store->cells()) == dump);
    const auto checked = store->maintenance().Check();
    REQUIRE(checked.ok());
    CHECK(checked->files == 5);
    CHECK(checked->damages.empty());
  }
  // Files that no manifest names are removed, also for a namespace without tables.
  REQUIRE(disk.Open("d/namespaces/one/000000999.cells", OpenMode::kCreate).ok());
  REQUIRE(disk.Open("d/namespaces/gone/000000999.points", OpenMode::kCreate).ok());
  auto store = Open(disk, "d");
  CHECK(Places(disk, "d") == kFlushed);
  CHECK(Dump(store->cells()) == dump);
  REQUIRE(store->cells().DropTable("two:t").ok());
  CHECK(Places(disk, "d").find("two") == std::string::npos);
}

TEST_CASE("a backup and the restored store have the folders of namespaces") {
  FaultyFileSystem disk(1);
  std::string dump;
  {
    auto store = Open(disk, "d");
    Fill(store->cells());
    dump = Dump(store->cells());
    for (int round = 0; round < 2; ++round) {
      REQUIRE(store->maintenance().Backup("b", {}).ok());
      CHECK(Places(disk, "b") == kFlushed);
      // The next backup has other files and removes these.
      Fill(store->cells());
      REQUIRE(store->cells().Flush().ok());
      REQUIRE(store->cells().Compact().ok());
    }
  }
  REQUIRE(engine::Restore(disk, "b", "r", {}).ok());
  CHECK(Places(disk, "r") == kFlushed);
  CHECK(Dump(Open(disk, "r")->cells()) == dump);
}

TEST_CASE(
    "damage in the folder of a namespace is found and moved aside, and loses only its own rows") {
  FaultyFileSystem disk(1);
  {
    auto store = Open(disk, "d");
    Fill(store->cells());
    REQUIRE(store->cells().Flush().ok());
  }
  const auto names = *engine::PartFilesIn(disk, "d");
  const auto two = std::find_if(names.begin(), names.end(), [](const auto& name) {
    return name.starts_with("namespaces/two");
  });
  REQUIRE(two != names.end());
  disk.FlipBit("d/" + *two, 3, 1);
  const auto report = engine::CheckDirectory(disk, "d");
  REQUIRE(report->damages.size() == 1);
  CHECK(report->damages[0].file == "d/" + *two);
  REQUIRE(engine::RepairDirectory(disk, "d").ok());
  CHECK(disk.Exists("d/lost/" + two->substr(two->rfind('/') + 1)));
  CHECK(engine::CheckDirectory(disk, "d")->damages.empty());
  auto store = Open(disk, "d");
  CHECK(store->cells().Get("two:t", "k")->empty());
  CHECK(store->cells().Get("one:t", "k")->cells.size() == 1);
}

// Every call to the disk fails in turn, then the power fails.
TEST_CASE("acknowledged writes to a table of a namespace survive any failing call") {
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    auto store = Open(disk, "d");
    Fill(store->cells());
    const std::string dump = Dump(store->cells());
    REQUIRE(store->cells().Sync().ok());
    disk.FailCall(n);
    (void)store->cells().Flush();
    (void)store->cells().Compact();
    const bool reached = disk.failed();
    disk.FailAllCalls();
    store.reset();
    disk.FailCall(0);
    disk.PowerCut();
    CHECK(Dump(Open(disk, "d")->cells()) == dump);
    if (!reached) break;
  }
}

TEST_CASE("a missing manifest is detected by files of a namespace alone") {
  FaultyFileSystem disk(1);
  REQUIRE(disk.Open("d/namespaces/one/000000001.cells", OpenMode::kCreate).ok());
  const ManualClock clock(1'000'000);
  const auto opened = Embedded::Open(Options("d"), disk, clock);
  CHECK(opened.status().code() == StatusCode::kCorruption);
}

}  // namespace
}  // namespace hg
