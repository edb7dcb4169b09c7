// The manifest names the files that must exist. If one is missing, empty, overwritten or foreign,
// the start is refused, the check finds it, and the repair leaves it out and names the losses.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "storage/engine/engine_backup.h"
#include "storage/engine/engine_check.h"
#include "storage/engine/offline_repair.h"
#include "tests/fault/damaged_store.h"

namespace hg {
namespace {

void Overwrite(FaultyFileSystem& disk, const std::string& path, const Bytes& content) {
  const auto file = disk.Open(path, OpenMode::kReadWrite);
  REQUIRE(file.ok());
  REQUIRE((*file)->Truncate(0).ok());
  REQUIRE((*file)->WriteAt(0, content).ok());
  REQUIRE((*file)->Sync().ok());
}

// Like WriteStore, with a log of several files: data from step 40 on is in the log only.
std::vector<std::string> WriteLongLog(FaultyFileSystem& disk) {
  std::vector<std::string> states;
  auto store = Open(disk);
  for (uint64_t step = 1; step <= 150; ++step) {
    REQUIRE(WriteSome(step, store->cells(), store->points()).ok());
    states.push_back(DumpCells(store->cells()));
    if (step == 40) REQUIRE(store->cells().Flush().ok());
  }
  REQUIRE(store->Close().ok());
  return states;
}

using Harm = std::function<void(FaultyFileSystem&, const std::string& path)>;

std::vector<std::pair<std::string, Harm>> HarmsOfLogs() {
  const auto with = [](Bytes content) {
    return [content](FaultyFileSystem& disk, const std::string& path) {
      Overwrite(disk, path, content);
    };
  };
  const auto other_log = [](FaultyFileSystem& disk, const std::string& path) {
    for (const std::string& name : FilesEndingWith(disk, ".log")) {
      if ("data/" + name != path)
        return Overwrite(disk, path, *ReadWholeFile(disk, "data/" + name));
    }
    FAIL("there is no other log file");
  };
  const auto header_alone = [](FaultyFileSystem& disk, const std::string& path) {
    Overwrite(disk, path, ReadWholeFile(disk, path)->substr(0, lsm::kLogFileHeaderBytes));
  };
  // A complete log file with the same name from another store.
  const auto other_store = [](FaultyFileSystem& disk, const std::string& path) {
    const Bytes content = *ReadWholeFile(disk, path);
    lsm::LogFileHeader header;
    REQUIRE(lsm::DecodeLogFileHeader(content, &header));
    lsm::LogRecordHeader record;
    ByteView body;
    REQUIRE(lsm::DecodeLogRecord(header.key, ByteView(content).substr(lsm::kLogFileHeaderBytes),
                                 &record, &body));
    record.sequence += 1000;
    char head[lsm::kLogFileHeaderBytes], encoded[lsm::kLogRecordHeaderBytes];
    lsm::EncodeLogFileHeader(header, head);
    lsm::EncodeLogRecordHeader(header.key, record, encoded);
    Overwrite(disk, path, Bytes(head, sizeof head) + Bytes(encoded, sizeof encoded) + Bytes(body));
  };
  return {{"missing",
           [](FaultyFileSystem& disk, const std::string& path) {
             REQUIRE(disk.Remove(path).ok());
             REQUIRE(disk.SyncFolder("data").ok());
           }},
          {"empty", with("")},
          {"zeros", with(Bytes(2048, '\0'))},
          {"overwritten", with(Bytes(2048, 'x'))},
          {"another log file", other_log},
          {"nothing but its header", header_alone},
          {"of another store", other_store}};
}

void CheckNamesLoss(FaultyFileSystem& disk, const std::string& name) {
  const Status refused = TryOpen(disk).status();
  INFO(refused.ToString());
  CHECK(refused.code() == StatusCode::kCorruption);
  CHECK(refused.message().find(name) != std::string_view::npos);
  CHECK(refused.message().find("tsdb repair") != std::string_view::npos);
  const auto report = engine::CheckDirectory(disk, "data");
  REQUIRE(report.ok());
  CHECK(std::any_of(report->damages.begin(), report->damages.end(), [&](const Damage& damage) {
    return damage.ToString().find(name) != std::string::npos && !damage.lost.empty();
  }));
  const auto repaired = engine::RepairDirectory(disk, "data");
  INFO(repaired.status().ToString());
  REQUIRE(repaired.ok());
  CHECK(std::any_of(repaired->lost.begin(), repaired->lost.end(),
                    [&](const std::string& line) { return line.find(name) != std::string::npos; }));
  CHECK(engine::CheckDirectory(disk, "data")->damages.empty());
}

}  // namespace

TEST_CASE(
    "A log file that the manifest names is refused if it is missing or replaced by another file") {
  FaultyFileSystem disk(1);
  const std::vector<std::string> states = WriteLongLog(disk);
  const std::vector<std::string> logs = FilesEndingWith(disk, ".log");
  REQUIRE(logs.size() > 2);
  const auto flushed = std::find(states.begin(), states.end(), states[39]);
  for (const std::string& name : logs) {
    for (const auto& [what, harm] : HarmsOfLogs()) {
      CAPTURE(name);
      CAPTURE(what);
      FaultyFileSystem harmed = disk.Copy();
      harm(harmed, "data/" + name);
      CheckNamesLoss(harmed, name);
      const Reading reading = Read(harmed);
      INFO(reading.status.ToString());
      REQUIRE(reading.status.ok());
      // The content of the files and of the log before the damaged file, and nothing else.
      const auto at = std::find(states.begin(), states.end(), reading.shown);
      REQUIRE(at != states.end());
      CHECK(at - states.begin() >= flushed - states.begin());
      CHECK(at - states.begin() < static_cast<ptrdiff_t>(states.size()) - 1);
      // The repaired store works, also after another restart.
      {
        auto store = Open(harmed);
        REQUIRE(WriteSome(99, store->cells(), store->points()).ok());
        REQUIRE(store->Close().ok());
      }
      CHECK(Read(harmed).status.ok());
    }
  }
}

TEST_CASE("A missing log file is detected even if the store was never flushed") {
  FaultyFileSystem disk(1);
  {
    auto store = Open(disk);
    for (uint64_t step = 1; step <= 5; ++step) {
      REQUIRE(WriteSome(step, store->cells(), store->points()).ok());
    }
    REQUIRE(store->Close().ok());
  }
  const std::vector<std::string> logs = FilesEndingWith(disk, ".log");
  for (const std::string& name : logs) REQUIRE(disk.Remove("data/" + name).ok());
  CheckNamesLoss(disk, logs.front());
}

TEST_CASE("A part file that was replaced by the file of another part is refused") {
  FaultyFileSystem disk(1);
  {
    auto store = Open(disk);
    for (uint64_t step = 1; step <= 60; ++step) {
      REQUIRE(WriteSome(step, store->cells(), store->points()).ok());
      if (step % 20 == 0) REQUIRE(store->cells().Flush().ok());
    }
    REQUIRE(store->Close().ok());
  }
  size_t tried = 0;
  for (const std::string kind : {".points", ".cells"}) {
    const std::vector<std::string> names = FilesEndingWith(disk, kind);
    REQUIRE(names.size() > 1);
    for (const std::string& name : names) {
      const Bytes own = *ReadWholeFile(disk, "data/" + name);
      for (const std::string& other : names) {
        const Bytes content = *ReadWholeFile(disk, "data/" + other);
        if (other == name || content == own) continue;
        CAPTURE(name);
        CAPTURE(other);
        FaultyFileSystem harmed = disk.Copy();
        Overwrite(harmed, "data/" + name, content);
        CheckNamesLoss(harmed, name);
        CHECK(TryOpen(harmed).ok());
        CHECK(harmed.Exists("data/lost/" + name));
        ++tried;
      }
      FaultyFileSystem harmed = disk.Copy();
      REQUIRE(harmed.Remove("data/" + name).ok());
      CheckNamesLoss(harmed, name);
      CHECK(TryOpen(harmed).ok());
    }
  }
  CHECK(tried > 4);
}

TEST_CASE("A backup taken while the log grows is restored without log files and opens") {
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  for (uint64_t step = 1; step <= 10; ++step) {
    REQUIRE(WriteSome(step, store->cells(), store->points()).ok());
  }
  bool wrote = false;
  const auto watch = [&](const CopyProgress&) {
    if (!std::exchange(wrote, true)) {
      CHECK(WriteSome(11, store->cells(), store->points()).ok());
      CHECK(store->cells().Sync().ok());
    }
    return true;
  };
  REQUIRE(store->maintenance().Backup("backup", watch).ok());
  REQUIRE(engine::Restore(disk, "backup", "restored", {}).ok());
  EmbeddedOptions options;
  options.path = "restored";
  options.background = false;
  ManualClock clock{1'700'000'000'000};
  const auto restored = Embedded::Open(options, disk, clock);
  INFO(restored.status().ToString());
  CHECK(restored.ok());
}

TEST_CASE("Files with names that the store does not write are left alone and reported") {
  FaultyFileSystem disk(1);
  const std::vector<std::string> states = WriteStore(disk);
  const std::vector<std::string> foreign = {"7.log",
                                            "20260101.log",
                                            "00000000000000000007.log",
                                            "x.log",
                                            "notes.cells",
                                            "7.points",
                                            "backup.points.tmp",
                                            "notes.tmp",
                                            "000000000000.log",
                                            "99999999999999999999.log"};
  for (const std::string& name : foreign) {
    const auto file = disk.Open("data/" + name, OpenMode::kCreate);
    REQUIRE(file.ok());
    REQUIRE((*file)->WriteAt(0, "somebody's own").ok());
  }
  // Its name is that of a log file with a very large number, but its content is not a log.
  {
    const auto file = disk.Open("data/202601011230.log", OpenMode::kCreate);
    REQUIRE((*file)->WriteAt(0, "somebody's own").ok());
  }
  const auto report = engine::CheckDirectory(disk, "data");
  REQUIRE(report.ok());
  CHECK(report->damages.empty());
  for (const std::string& name : foreign) {
    CAPTURE(name);
    CHECK(std::any_of(report->notes.begin(), report->notes.end(), [&](const std::string& note) {
      return note.find("data/" + name) != std::string::npos;
    }));
  }
  for (int round = 0; round < 3; ++round) {
    auto store = TryOpen(disk);
    INFO(store.status().ToString());
    REQUIRE(store.ok());
    CHECK(DumpCells((*store)->cells()) == states.back());
    REQUIRE((*store)->cells().Flush().ok());
  }
  {
    auto store = Open(disk);
    REQUIRE(WriteSome(99, store->cells(), store->points()).ok());
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->Close().ok());
  }
  CHECK(TryOpen(disk).ok());
  for (const std::string& name : foreign) {
    CAPTURE(name);
    CHECK(*ReadWholeFile(disk, "data/" + name) == "somebody's own");
  }
  CHECK(*ReadWholeFile(disk, "data/202601011230.log") == "somebody's own");
}

TEST_CASE("Foreign files in a folder without a manifest do not prevent creating a store") {
  FaultyFileSystem disk(1);
  for (const char* name : {"data/notes.log", "data/7.log", "data/a.points"}) {
    REQUIRE(disk.Open(name, OpenMode::kCreate).ok());
  }
  const auto store = TryOpen(disk);
  INFO(store.status().ToString());
  CHECK(store.ok());
}

}  // namespace hg
