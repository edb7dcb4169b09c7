#include "tsd/ingest/stored_tag_formats.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <thread>

#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/tsd/ingest/recall_process.h"

namespace hg::tsd {
namespace {

/// A disk that cannot create files for a while.
class TroubledDisk : public FaultyFileSystem {
 public:
  enum class Trouble { kNone, kFull, kNoMemory };
  TroubledDisk() : FaultyFileSystem(1) {}

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    const Trouble now = mode == OpenMode::kCreate ? trouble.load() : Trouble::kNone;
    if (now != Trouble::kNone) ++failures;
    if (now == Trouble::kNoMemory) throw std::bad_alloc();
    if (now == Trouble::kFull) return Status::IoError(path + ": no room");
    return FaultyFileSystem::Open(path, mode);
  }
  void WaitForFailures(int n) const {
    while (failures < n) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<Trouble> trouble = Trouble::kNone;
  std::atomic<int> failures = 0;
};

}  // namespace

TEST_CASE(
    "tag formats are saved to a file, and the next process restores raw series keys from it") {
  const TempFolder folder;
  std::vector<std::string> reports;
  const auto report = [&](const std::string& text) { reports.push_back(text); };
  const std::string path = folder.path() + "/" + kTagFormatsName;
  Process process;
  const auto run = [&](const auto& work) {
    process.Start();
    StoredTagFormats kept(*process.ingest, PosixFileSystem(), folder.path(), report);
    kept.Start();
    work();
    kept.Stop();
  };
  const RawKey raw_key{Dialect::kWords, "cpu", "host=a"};
  const auto knows_soon = [&] {
    for (int i = 0; i < 10'000 && !process.Knows(raw_key); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return process.Knows(raw_key);
  };
  run([&] { process.Learn(raw_key); });
  REQUIRE(std::filesystem::exists(path));
  run([&] { CHECK(knows_soon()); });
  CHECK(reports.empty());
  const Bytes good = *ReadWholeFile(PosixFileSystem(), path);
  REQUIRE(ReplaceFile(PosixFileSystem(), folder.path(), kTagFormatsName, good.substr(3)).ok());
  run([&] {
    REQUIRE(reports.size() == 1);
    CHECK(reports[0] == path + " is damaged or has another version; it will be written again");
    process.Learn(raw_key);
  });
  CHECK(*ReadWholeFile(PosixFileSystem(), path) == good);
  // If the file cannot be written, the process continues to work.
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  run([&] { process.Learn({Dialect::kWords, "cpu", "other=a"}); });
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].starts_with("the tag formats cannot be saved: "));
}

TEST_CASE("if memory is short, tag formats are saved later") {
  TroubledDisk disk;
  Process process;
  std::atomic<int> told{0};
  StoredTagFormats kept(*process.ingest, disk, "d", [&](const std::string& text) {
    CHECK(text.starts_with("the tag formats cannot be saved: "));
    ++told;
    throw std::bad_alloc();  // reporting the failure fails, too
  });
  disk.trouble = TroubledDisk::Trouble::kNoMemory;
  kept.Start();
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  while (told == 0) std::this_thread::yield();
  disk.trouble = TroubledDisk::Trouble::kNone;
  kept.Stop();
  CHECK(disk.Exists(std::string("d/") + kTagFormatsName));
}

TEST_CASE("a failed save is retried, and reported once") {
  TroubledDisk disk;
  Process process;
  std::atomic<int> reports{0};
  StoredTagFormats kept(*process.ingest, disk, "d", [&](const std::string&) { ++reports; });
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  const std::string path = std::string("d/") + kTagFormatsName;
  SUBCASE("a full disk") {
    disk.trouble = TroubledDisk::Trouble::kFull;
    kept.Start();
    disk.WaitForFailures(2);
    disk.trouble = TroubledDisk::Trouble::kNone;
    while (!disk.Exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kept.Stop();
    CHECK(reports == 1);
  }
  SUBCASE("a full disk that has space again when the saving is stopped") {
    disk.trouble = TroubledDisk::Trouble::kFull;
    kept.Start();
    disk.WaitForFailures(1);
    disk.trouble = TroubledDisk::Trouble::kNone;
    kept.Stop();
    CHECK(reports == 1);
  }
  REQUIRE(disk.Exists(path));
  TagFormats formats;
  CHECK(formats.Decode(*ReadWholeFile(disk, path)));
  CHECK(formats.All().size() == 1);
}

}  // namespace hg::tsd
