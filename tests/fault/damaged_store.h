#pragma once
// A small store on a disk in memory, to be damaged, and what a reader then gets of it.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "storage/points/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/fault/workload.h"
#include "tests/support/manual_clock.h"

namespace hg {

inline Result<std::unique_ptr<Embedded>> TryOpen(FileSystem& disk) {
  static ManualClock clock{1'700'000'000'000};
  EmbeddedOptions options;
  options.path = "data";
  options.durability = Durability::kSynced;
  options.background = false;
  options.enable_compaction = false;
  options.sync_interval_ms = 3'600'000;
  options.log_file_bytes = 2048;
  return Embedded::Open(options, disk, clock);
}

inline std::unique_ptr<Embedded> Open(FileSystem& disk) {
  auto store = TryOpen(disk);
  INFO(store.status().ToString());
  REQUIRE(store.ok());
  return std::move(*store);
}

inline std::vector<std::string> FilesEndingWith(FaultyFileSystem& disk, const std::string& end) {
  auto names = disk.List("data");
  REQUIRE(names.ok());
  std::erase_if(*names, [&](const std::string& name) { return !name.ends_with(end); });
  return *names;
}

/// What the store shows after each write. The last third is in the log only.
inline std::vector<std::string> WriteStore(FaultyFileSystem& disk) {
  std::vector<std::string> states;
  auto store = Open(disk);
  for (uint64_t step = 1; step <= 60; ++step) {
    REQUIRE(WriteSome(step, store->cells(), store->points()).ok());
    states.push_back(DumpCells(store->cells()));
    if (step == 20 || step == 40) REQUIRE(store->cells().Flush().ok());
  }
  REQUIRE(store->Close().ok());
  return states;
}

/// Everything, by scan and row by row.
struct Reading {
  Status status;
  std::string shown;
};

inline Reading Read(FaultyFileSystem& disk, const std::vector<Bytes>& keys = {}) {
  auto store = TryOpen(disk);
  if (!store.ok()) return {store.status(), ""};
  auto shown = TryDumpCells((*store)->cells());
  if (!shown.ok()) return {shown.status(), ""};
  for (const Bytes& key : keys) {
    const auto row = (*store)->cells().Get("tsdb", key);
    if (!row.ok()) return {row.status(), ""};
    for (const Cell& cell : row->cells) *shown += ToHex(cell.qualifier) + ToHex(cell.value);
  }
  return {Status(), *shown};
}

}  // namespace hg
