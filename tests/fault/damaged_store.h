#pragma once
// Creates a small embedded store on a disk in memory. Tests damage the files of the store and then
// read the store.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/engine/version.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"
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

/// Changes the manifest: replaces the length and the trailer checksum of the file `path` by `bytes`
/// and `crc`.
inline void NameAnew(FaultyFileSystem& disk, const std::string& path, uint64_t bytes,
                     uint32_t crc) {
  auto manifest = lsm::LoadManifest(disk, "data");
  REQUIRE(manifest.ok());
  for (lsm::PartEntry& part : manifest->parts) {
    if (engine::Part::CellsPath("data", part.number) == path) {
      part.cells_bytes = bytes;
      part.cells_crc = crc;
    }
    if (engine::Part::PointsPath("data", part.number) == path) {
      part.points_bytes = bytes;
      part.points_crc = crc;
    }
  }
  REQUIRE(lsm::SaveManifest(disk, "data", *manifest).ok());
}

/// Creates a store and makes 60 writes. Returns the content of the store as text after each write.
/// At the end, the last 20 writes are only in the log, and the other writes are in files.
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

/// The result of Read: the content of a store as text, or the error. Read scans the store, and then
/// reads each row in `keys` again with a separate call.
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

/// Writes rows of two metrics and flushes them. The rows fill several blocks in one points file and
/// in one cell file.
inline void WriteManyRows(Embedded& store) {
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 400; ++i) {
    Bytes tsuid;
    for (const uint64_t id : {1 + i % 2, uint64_t{1}, i + 1}) AppendBig(&tsuid, id, 3);
    const auto number = store.points().Register(tsuid);
    REQUIRE(number.ok());
    std::vector<PointEntry> batch;
    for (int64_t second = 0; second < 60; ++second) {
      batch.push_back(MakePointEntry(*number, Timestamp{kWorkloadBase + second * 7},
                                     PointValue::Int(static_cast<int64_t>(random()))));
    }
    REQUIRE(store.points().Append(batch).ok());
    const Bytes key = codec::MakeRowKey(store.points().layout(), tsuid, kWorkloadBase);
    std::string text;
    for (uint64_t j = 0; j < 40; ++j) text += ToHex(std::to_string(i * 1'000'003 * (j + 1)));
    REQUIRE(store.cells().Mutate("tsdb", {{key, {PutCell("t", Bytes("\1\0\5", 3), text)}}}).ok());
  }
  REQUIRE(store.cells().Flush().ok());
}

inline std::vector<Bytes> Keys() {
  std::vector<Bytes> keys;
  for (uint64_t i = 0; i < 400; ++i) {
    Bytes tsuid;
    for (const uint64_t id : {1 + i % 2, uint64_t{1}, i + 1}) AppendBig(&tsuid, id, 3);
    keys.push_back(codec::MakeRowKey(KeyLayout(), tsuid, kWorkloadBase));
  }
  return keys;
}

struct RowCount {
  size_t readable = 0;
  size_t complete = 0;  // number of rows from which all written cells can be read
};

inline RowCount CountRows(Embedded& store) {
  RowCount count;
  for (const Bytes& key : Keys()) {
    const auto row = store.cells().Get("tsdb", key);
    if (!row.ok()) {
      CHECK(row.status().code() == StatusCode::kCorruption);
      continue;
    }
    ++count.readable;
    count.complete += row->cells.size() == 61 ? 1 : 0;
  }
  return count;
}

/// Returns the name of the largest file in the folder "data" whose name ends with `kind`, for
/// example ".points".
inline std::string LargestFile(FaultyFileSystem& disk, const std::string& kind) {
  std::string name;
  for (const std::string& candidate : FilesEndingWith(disk, kind)) {
    if (name.empty() || ReadWholeFile(disk, "data/" + candidate)->size() >
                            ReadWholeFile(disk, "data/" + name)->size()) {
      name = candidate;
    }
  }
  return name;
}

/// Returns the name of the cell file in the folder "data" that contains the series table. It is the
/// file whose keys are numbers of four bytes.
inline std::string SeriesFile(FaultyFileSystem& disk) {
  for (const std::string& name : FilesEndingWith(disk, ".cells")) {
    const auto file = lsm::BlockFile::Open(disk, "data/" + name);
    REQUIRE(file.ok());
    if ((*file)->separator(0).size() == 4) return name;
  }
  FAIL("no file of series");
  return "";
}

}  // namespace hg
