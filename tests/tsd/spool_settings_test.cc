#include "tsd/spool_settings.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <utility>

#include "storage/hbase/spool.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/manual_clock.h"
#include "tsd/log.h"

namespace hg::tsd {
namespace {

TEST_CASE("the spool is below the data directory, and tables of ids and metadata do not use it") {
  Config config;
  config.Set("tsd.storage.path", "/there");
  auto spool = ReadSpoolOptions(config);
  REQUIRE(spool.ok());
  REQUIRE(*spool);
  CHECK((*spool)->folder == "/there/spool");
  CHECK((*spool)->tables == std::vector<std::string>{"tsdb"});
  CHECK((*spool)->write_on_commit);
  CHECK_FALSE((*spool)->sync_on_commit);
  config.Set("tsd.storage.durability", "synced");
  config.Set("tsd.storage.hbase.spool.path", "/elsewhere");
  spool = ReadSpoolOptions(config);
  CHECK((*spool)->sync_on_commit);
  CHECK((*spool)->folder == "/elsewhere");
  config.Set("tsd.mode", "ro");
  CHECK_FALSE(*ReadSpoolOptions(config));
  config.Set("tsd.mode", "rw");
  config.Set("tsd.storage.hbase.spool.size", "0");
  CHECK_FALSE(*ReadSpoolOptions(config));
  config.Set("tsd.storage.hbase.spool.size", "-1");
  CHECK(ReadSpoolOptions(config).status().code() == StatusCode::kInvalidArgument);
}

/// A data directory with settings, and a spool in which a point waits.
struct Left {
  Left() { config.Set("tsd.storage.path", folder.path() + "/data"); }
  void WaitIn(const std::string& spool_folder) {
    REQUIRE(disk.CreateFolder(folder.path() + "/data").ok());
    hbase::SpoolOptions options;
    options.folder = spool_folder;
    auto spool = hbase::Spool::Open(disk, options, clock);
    REQUIRE(spool.ok());
    hbase::SpoolRecord record;
    record.table = "tsdb";
    record.rows = {{"k", {PutCell("t", "q", "1")}}};
    REQUIRE((*spool)->Hold(std::move(record)).ok());
  }
  [[nodiscard]] std::string Path(const std::string& name) const {
    return folder.path() + "/" + name;
  }
  [[nodiscard]] Status Refusal() const { return ReadSpoolOptions(config).status(); }

  TempFolder folder;
  FileSystem& disk = PosixFileSystem();
  ManualClock clock{1'700'000'000'000};
  Config config;
};

bool Names(const Status& status, const std::string& part) {
  return status.message().find(part) != std::string_view::npos;
}

TEST_CASE("no daemon starts if points wait in a folder that its settings do not use") {
  Left left;
  left.WaitIn(left.Path("data/spool"));
  CHECK(left.Refusal().ok());
  for (const auto& [key, value] : {std::pair("tsd.storage.hbase.spool.path", "/elsewhere"),
                                   std::pair("tsd.storage.hbase.spool.size", "0")}) {
    CAPTURE(key);
    Config changed = left.config;
    changed.Set(key, value);
    const Status refused = ReadSpoolOptions(changed).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(Names(refused, left.Path("data/spool")));
    CHECK(Names(refused, key));
  }
}

TEST_CASE("the folder of a spool is recorded, and checked when the settings change") {
  Left left;
  const std::string elsewhere = left.Path("elsewhere");
  left.WaitIn(elsewhere);
  left.config.Set("tsd.storage.hbase.spool.path", elsewhere);
  NoteSpoolFolder(left.config, elsewhere, left.disk);
  CHECK(left.Refusal().ok());
  for (const std::string& folder : {std::string(), left.Path("third")}) {
    CAPTURE(folder);
    left.config.Set("tsd.storage.hbase.spool.path", folder);
    CHECK(Names(left.Refusal(), elsewhere));
  }
  std::filesystem::remove_all(elsewhere);
  CHECK(left.Refusal().ok());
  NoteSpoolFolder(left.config, left.Path("third"), left.disk);
  CHECK(*ReadWholeFile(left.disk, left.Path("data/spool-folder")) == left.Path("third"));
}

TEST_CASE(
    "the default spool folder is not recorded, and a failure to record another one is only "
    "logged") {
  FaultyFileSystem disk(1);
  Config config;
  config.Set("tsd.storage.path", "/there");
  NoteSpoolFolder(config, "/there/spool", disk);
  CHECK_FALSE(disk.Exists("/there/spool-folder"));
  disk.FailAllCalls();
  NoteSpoolFolder(config, "/elsewhere", disk);
  CHECK(RecentLogLines().at(0).find("/elsewhere") != std::string::npos);
}

TEST_CASE("a read-only daemon starts and logs that points wait") {
  Left left;
  left.WaitIn(left.Path("data/spool"));
  left.config.Set("tsd.mode", "ro");
  const auto none = ReadSpoolOptions(left.config);
  REQUIRE(none.ok());
  CHECK_FALSE(*none);
  const std::string line = RecentLogLines().at(0);
  CHECK(line.find("points wait for HBase") != std::string::npos);
  CHECK(line.find("where=" + left.Path("data/spool")) != std::string::npos);
}

}  // namespace
}  // namespace hg::tsd
