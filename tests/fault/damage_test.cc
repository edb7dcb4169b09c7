// Damaged files: whatever byte is wrong, a read returns correct data or names the file, the check
// finds the damage, and the repair keeps the rest.

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "storage/codec/row_key.h"
#include "storage/engine/engine_check.h"
#include "storage/engine/offline_repair.h"
#include "storage/engine/row_block.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"
#include "storage/points/row_statistics.h"
#include "tests/fault/damaged_store.h"

namespace hg {
namespace {

TEST_CASE(
    "whichever byte of a file is wrong, a read returns correct data or names the file, and "
    "the check finds the damage") {
  FaultyFileSystem disk(1);
  const std::vector<std::string> states = WriteStore(disk);
  const std::string& whole = states.back();
  const auto names = disk.List("data");
  const auto undamaged = engine::CheckDirectory(disk, "data");
  REQUIRE(undamaged.ok());
  REQUIRE(undamaged->damages.empty());
  std::set<std::string> kinds;
  for (const std::string& name : *names) {
    const bool is_log = name.ends_with(".log");
    const std::string path = "data/" + name;
    const Bytes content = *ReadWholeFile(disk, path);
    // Changes one bit of each byte, and all bits of the last byte. In block files the last byte is
    // the format version, which no checksum covers.
    for (uint64_t flip = 0; flip < content.size() + 7; flip += is_log ? 3 : 1) {
      const uint64_t byte = std::min(flip, content.size() - 1);
      const int bit = static_cast<int>(flip % 8);
      FaultyFileSystem damaged = disk.Copy();
      damaged.FlipBit(path, byte, bit);
      CAPTURE(path);
      CAPTURE(byte);
      CAPTURE(bit);
      const auto report = engine::CheckDirectory(damaged, "data");
      REQUIRE(report.ok());
      const Reading reading = Read(damaged);
      if (!reading.status.ok()) {
        CHECK(reading.status.code() == StatusCode::kCorruption);
        CHECK(reading.status.message().find(is_log ? ".log" : name) != std::string_view::npos);
      } else if (is_log) {
        // Nothing shows that the log had records after the damage, so the log ends there, as after
        // an interrupted write.
        CHECK(std::find(states.begin(), states.end(), reading.shown) != states.end());
      } else {
        CHECK(reading.shown == whole);
      }
      if (!is_log || !reading.status.ok()) {
        REQUIRE(!report->damages.empty());
        CHECK(report->damages[0].file.find(is_log ? ".log" : name) != std::string::npos);
        CHECK(report->damages[0].offset <= content.size());
      } else if (reading.shown != whole) {
        CHECK(report->notes != undamaged->notes);  // the position at which the log ends
      }
      kinds.insert(name.substr(name.find_last_of('.') + 1));
    }
  }
  CHECK(kinds == std::set<std::string>{"MANIFEST", "cells", "log", "points"});
}

// Damages the middle of a file, repairs it and checks what is left after each step.
void DamageAndRepair(FaultyFileSystem& disk, const std::string& kind) {
  const std::string name = LargestFile(disk, kind);
  const size_t size = ReadWholeFile(disk, "data/" + name)->size();
  REQUIRE(size > 100'000);
  disk.FlipBit("data/" + name, size / 2, 3);
  const auto report = engine::CheckDirectory(disk, "data");
  REQUIRE(report.ok());
  REQUIRE(report->damages.size() == 1);
  CHECK(report->damages[0].file == "data/" + name);
  CHECK(report->damages[0].offset <= size / 2);
  CHECK(report->damages[0].offset > size / 2 - 50'000);
  CHECK(!report->damages[0].lost.empty());
  size_t readable = 0;
  {
    auto store = Open(disk);
    const RowCount count = CountRows(*store);
    CHECK(count.readable > 200);
    CHECK(count.readable < 400);
    CHECK(count.complete == count.readable);
    readable = count.readable;
    const auto online = store->maintenance().Check();
    REQUIRE(online.ok());
    REQUIRE(online->damages.size() == 1);
    CHECK(online->damages[0].ToString() == report->damages[0].ToString());
  }
  const auto repaired = engine::RepairDirectory(disk, "data");
  REQUIRE(repaired.ok());
  REQUIRE(repaired->lost.size() == 1);
  CHECK(repaired->lost[0] == report->damages[0].ToString());
  CHECK(disk.Exists("data/lost/" + name));
  CHECK(!disk.Exists("data/" + name));
  CHECK(engine::CheckDirectory(disk, "data")->damages.empty());
  {
    auto store = Open(disk);
    const RowCount count = CountRows(*store);
    CHECK(count.readable == 400);
    // A lookup of the last row before a damaged block also reads that block. So `readable` does not
    // count this row.
    CHECK(count.complete >= readable);
    CHECK(count.complete < 400);
    REQUIRE(store->cells().Compact().ok());
    CHECK(CountRows(*store).complete == count.complete);
  }
  const auto again = engine::RepairDirectory(disk, "data");
  REQUIRE(again.ok());
  CHECK(again->done.empty());
}

TEST_CASE(
    "a damaged block loses only its own rows; the repair moves it aside and keeps all others") {
  for (const char* kind : {".points", ".cells"}) {
    for (const bool merged : {false, true}) {
      CAPTURE(kind);
      CAPTURE(merged);
      FaultyFileSystem disk(1);
      {
        auto store = Open(disk);
        WriteManyRows(*store);
        if (merged) REQUIRE(store->cells().Compact().ok());
      }
      DamageAndRepair(disk, kind);
    }
  }
}

TEST_CASE("a damaged file shared by two regions is repaired once for both") {
  for (const char* kind : {".points", ".cells"}) {
    CAPTURE(kind);
    FaultyFileSystem disk(1);
    {
      auto store = Open(disk);
      WriteManyRows(*store);
      REQUIRE(store->cells().Split("tsdb", "", Bytes("\0\0\2", 3)).ok());
      REQUIRE(store->cells().Regions("tsdb")->size() == 2);
    }
    DamageAndRepair(disk, kind);
    auto store = Open(disk);
    const auto regions = store->cells().Regions("tsdb");
    REQUIRE(regions->size() == 2);
    // The merge has rewritten the shared files.
    for (const RegionInfo& region : *regions) CHECK(region.references == 0);
  }
}

// Rewrites the only points file, with a wrong sum for each row that has statistics.
size_t ForgeSums(FaultyFileSystem& disk) {
  const std::string path = "data/" + FilesEndingWith(disk, ".points").at(0);
  const auto file = lsm::BlockFile::Open(disk, path, {&engine::RowBlockPacker()});
  REQUIRE(file.ok());
  lsm::BlockWriting writing;
  writing.packer = &engine::RowBlockPacker();
  auto forged = lsm::BlockFileWriter::Create(disk, path + ".forged", writing);
  REQUIRE(forged.ok());
  size_t rows = 0;
  for (size_t block = 0; block < (*file)->blocks(); ++block) {
    const Status read = (*file)->ReadEntries(block, [&](ByteView key, ByteView value) -> Status {
      Bytes row(value);
      if (const auto statistics = *points::ReadRowStatistics(row)) {
        RowStatistics changed = *statistics;
        Bytes right, wrong;
        points::AppendStatistics(changed, &right);
        changed.sum += 1;
        points::AppendStatistics(changed, &wrong);
        row.replace(row.find(right), right.size(), wrong);
        ++rows;
      }
      return (*forged)->Add(key, row);
    });
    REQUIRE(read.ok());
  }
  REQUIRE((*forged)->Finish().ok());
  REQUIRE(disk.Rename(path + ".forged", path).ok());
  NameAnew(disk, path, (*forged)->bytes(), (*forged)->trailer_crc());
  return rows;
}

TEST_CASE("wrong statistics of a row count as damage, and the repair computes them again") {
  FaultyFileSystem disk(1);
  std::string shown;
  {
    auto store = Open(disk);
    const auto series = store->points().Register(Bytes("\0\0\1\0\0\1\0\0\1", 9));
    REQUIRE(series.ok());
    constexpr int64_t kDay = kWorkloadBase + 3600;  // a midnight: both hours are in one file
    for (int64_t second = 0; second < 7200; second += 20) {
      const PointEntry entry =
          MakePointEntry(*series, Timestamp{kDay + second}, PointValue::Int(second % 70));
      REQUIRE(store->points().Append({&entry, 1}).ok());
    }
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());
    shown = DumpCells(store->cells());
  }
  REQUIRE(engine::CheckDirectory(disk, "data")->damages.empty());
  CHECK(ForgeSums(disk) == 2);
  const auto report = engine::CheckDirectory(disk, "data");
  REQUIRE(report.ok());
  REQUIRE_FALSE(report->damages.empty());
  CHECK(report->damages[0].ToString().find("statistics") != std::string::npos);
  REQUIRE(engine::RepairDirectory(disk, "data").ok());
  CHECK(engine::CheckDirectory(disk, "data")->damages.empty());
  CHECK(Read(disk).shown == shown);
}

TEST_CASE(
    "a file without a valid index is moved aside completely, and a missing file is reported") {
  FaultyFileSystem disk(1);
  {
    auto store = Open(disk);
    WriteManyRows(*store);
  }
  const std::string name = FilesEndingWith(disk, ".points").back();
  disk.FlipBit("data/" + name, ReadWholeFile(disk, "data/" + name)->size() - 10, 0);
  CHECK(TryOpen(disk).status().code() == StatusCode::kCorruption);
  REQUIRE(engine::RepairDirectory(disk, "data").ok());
  CHECK(disk.Exists("data/lost/" + name));
  auto store = Open(disk);
  const auto row = store->cells().Get("tsdb", Keys()[7]);
  REQUIRE(row.ok());
  CHECK(row->cells.size() == 1);  // the annotation
  store.reset();
  std::string cells;
  for (const std::string& candidate : FilesEndingWith(disk, ".cells")) {
    if (ReadWholeFile(disk, "data/" + candidate)->size() > 100'000) cells = candidate;
  }
  REQUIRE(disk.Remove("data/" + cells).ok());
  const auto report = engine::CheckDirectory(disk, "data");
  REQUIRE(report->damages.size() == 1);
  CHECK(report->damages[0].file == "data/" + cells);
  REQUIRE(engine::RepairDirectory(disk, "data").ok());
  CHECK(Open(disk)->cells().Get("tsdb", Keys()[7])->cells.empty());
}

TEST_CASE(
    "a lost series table is rebuilt from the rows, and series that the log names itself "
    "keep their points in the log") {
  FaultyFileSystem disk(1);
  std::string before;
  {
    auto store = Open(disk);
    for (uint64_t step = 1; step <= 40; ++step) {
      REQUIRE(WriteSome(step, store->cells(), store->points()).ok());
    }
    REQUIRE(store->cells().Flush().ok());
    before = DumpCells(store->cells());
  }
  const std::string series = SeriesFile(disk);
  {
    FaultyFileSystem damaged = disk.Copy();
    damaged.FlipBit("data/" + series, 3, 1);
    CHECK(TryOpen(damaged).status().code() == StatusCode::kCorruption);
    const auto repaired = engine::RepairDirectory(damaged, "data");
    INFO(repaired.status().ToString());
    REQUIRE(repaired.ok());
    CHECK(damaged.Exists("data/lost/" + series));
    auto store = Open(damaged);
    CHECK(DumpCells(store->cells()) == before);
    CHECK(store->Stats().series == kWorkloadSeries);
    REQUIRE(WriteSome(41, store->cells(), store->points()).ok());
    CHECK(store->Stats().series == kWorkloadSeries);
  }
  // The log has points of a series that it creates itself, and of series whose numbers only the
  // lost file knew.
  const auto write = [](Embedded& store, const Bytes& tsuid, int64_t count) {
    const auto number = store.points().Register(tsuid);
    REQUIRE(number.ok());
    for (int64_t i = 0; i < count; ++i) {
      const PointEntry entry =
          MakePointEntry(*number, Timestamp{kWorkloadBase + 7200 + i}, PointValue::Int(i));
      REQUIRE(store.points().Append({&entry, 1}).ok());
    }
  };
  const Bytes fresh = WorkloadTsuid(9);
  {
    auto store = Open(disk);
    write(*store, fresh, 5);
    write(*store, WorkloadTsuid(1), 3);
    REQUIRE(store->Close().ok());
  }
  disk.FlipBit("data/" + series, 3, 1);
  const auto repaired = engine::RepairDirectory(disk, "data");
  INFO(repaired.status().ToString());
  REQUIRE(repaired.ok());
  CHECK(std::any_of(repaired->lost.begin(), repaired->lost.end(), [](const std::string& line) {
    return line.starts_with("3 points in the log");
  }));
  auto store = Open(disk);
  CHECK(store->Stats().series == kWorkloadSeries + 1);
  const Bytes key = codec::MakeRowKey(KeyLayout(), fresh, kWorkloadBase + 7200);
  CHECK(store->cells().Get("tsdb", key)->cells.size() == 5);
  CHECK(engine::CheckDirectory(disk, "data").status().code() == StatusCode::kBusy);
}

TEST_CASE(
    "a log that is damaged in the middle is refused, and the repair keeps the records before the "
    "damage") {
  FaultyFileSystem disk(1);
  const std::vector<std::string> states = WriteStore(disk);
  const std::string log = FilesEndingWith(disk, ".log").front();
  disk.FlipBit("data/" + log, 40, 2);
  CHECK(TryOpen(disk).status().code() == StatusCode::kCorruption);
  const auto repaired = engine::RepairDirectory(disk, "data");
  INFO(repaired.status().ToString());
  REQUIRE(repaired.ok());
  CHECK(repaired->lost.size() == 1);
  CHECK(disk.Exists("data/lost/" + log));
  auto store = Open(disk);
  CHECK(DumpCells(store->cells()) == states[39]);  // as of the last flush
  REQUIRE(WriteSome(99, store->cells(), store->points()).ok());
  REQUIRE(store->cells().Flush().ok());
}

TEST_CASE("without a manifest a repair is impossible, and a failing repair changes nothing") {
  FaultyFileSystem disk(1);
  const std::vector<std::string> states = WriteStore(disk);
  {
    FaultyFileSystem damaged = disk.Copy();
    damaged.FlipBit("data/MANIFEST", 20, 0);
    const auto refused = engine::RepairDirectory(damaged, "data");
    CHECK(refused.status().code() == StatusCode::kCorruption);
    CHECK(refused.status().message().find("MANIFEST") != std::string_view::npos);
  }
  disk.FlipBit("data/" + SeriesFile(disk), 3, 1);
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem damaged = disk.Copy();
    damaged.FailCall(n);
    const Status repaired = engine::RepairDirectory(damaged, "data").status();
    const bool reached = damaged.failed();
    damaged.FailCall(0);
    damaged.PowerCut();
    if (!repaired.ok()) REQUIRE(engine::RepairDirectory(damaged, "data").ok());
    const auto report = engine::CheckDirectory(damaged, "data");
    REQUIRE(report.ok());
    CHECK(report->damages.empty());
    CHECK(TryOpen(damaged).ok());
    if (!reached) break;
  }
}

}  // namespace
}  // namespace hg
