// Failures of background threads do not stop readers and writers, and are reported (region-store.md
// O1).

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

using namespace std::string_literals;

namespace hg {
namespace {

// A file system that throws bad_alloc when a cell file is created.
class StarvingDisk : public FaultyFileSystem {
 public:
  StarvingDisk() : FaultyFileSystem(1) {}
  std::atomic<bool> starves = true;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (starves && mode == OpenMode::kCreate && path.ends_with(".cells")) throw std::bad_alloc();
    return FaultyFileSystem::Open(path, mode);
  }
};

// A file system that calls a function once before a cell file is created.
class CallingDisk : public FaultyFileSystem {
 public:
  CallingDisk() : FaultyFileSystem(1) {}
  std::function<void()> call;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kCreate && path.ends_with(".cells")) {
      if (const auto now = std::exchange(call, nullptr)) now();
    }
    return FaultyFileSystem::Open(path, mode);
  }
};

void WaitUntil(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_CASE(
    "while flushes fail, reads and writes continue, the failure is reported, and flushes "
    "are made up for later") {
  StarvingDisk disk;
  ManualClock clock(1'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.log_file_bytes = 1 << 20;
  auto store = std::move(*Embedded::Open(options, disk, clock));
  Store& cells = store->cells();
  const auto put = [&](const char* key) {
    return cells.Mutate("tsdb-uid", {{key, {PutCell("id", "q", "v")}}});
  };
  const auto count = [&] {
    ScanSpec spec;
    spec.table = "tsdb-uid";
    std::vector<Row> rows;
    REQUIRE((*cells.Scan(spec))->Next(&rows).ok());
    return rows.size();
  };
  REQUIRE(put("a").ok());
  clock.AdvanceMs(2 * options.flush_age_ms);
  WaitUntil([&] { return !store->Stats().background_error.empty(); });
  CHECK(store->Stats().background_error.find("broken off") != std::string::npos);
  CHECK(put("b").ok());
  CHECK(count() == 2);
  // The caller creates the table itself, so this works while background threads fail.
  CHECK(cells.CreateTable({"t", {{"f"}}, false}).ok());
  CHECK(store->Stats().flushes == 0);
  disk.starves = false;
  WaitUntil([&] { return store->Stats().flushes > 0; });
  WaitUntil([&] { return store->Stats().background_error.empty(); });
  CHECK(count() == 2);
  CHECK(store->Close().ok());
}

TEST_CASE("merges of the same region are committed while a flush writes its files") {
  CallingDisk disk;
  ManualClock clock(1'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  {
    auto store = std::move(*Embedded::Open(options, disk, clock));
    Store& cells = store->cells();
    const auto put = [&](const char* key, const char* value) {
      return cells.Mutate("tsdb-uid", {{key, {PutCell("id", "q", value)}}});
    };
    for (const char* key : {"a", "b", "c"}) {
      REQUIRE(put(key, "old").ok());
      REQUIRE(cells.Flush().ok());
    }
    REQUIRE(put("b", "new").ok());
    Status merged = Status::Unavailable("not called");
    disk.call = [&] { merged = cells.Compact(); };
    REQUIRE(cells.Flush().ok());
    CHECK(merged.ok());
    CHECK(store->Stats().merges == 1);
    CHECK(store->Stats().file_count == 2);
    CHECK(cells.Get("tsdb-uid", "b")->cells.at(0).value == "new");
  }
  auto store = std::move(*Embedded::Open(options, disk, clock));
  CHECK(store->cells().Get("tsdb-uid", "b")->cells.at(0).value == "new");
  CHECK(store->cells().Get("tsdb-uid", "a")->cells.at(0).value == "old");
}

TEST_CASE("merges also start without a flush") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.log_file_bytes = 1 << 20;
  options.merge.major_period_ms = 3'600'000;
  options.check_interval_ms = 5;
  for (const bool background : {false, true}) {
    CAPTURE(background);
    options.background = background;
    auto store = std::move(*Embedded::Open(options, disk, clock));
    Store& cells = store->cells();
    if (!background) {
      REQUIRE(cells.Mutate("tsdb-uid", {{"k", {PutCell("id", "q", "v")}}}).ok());
      REQUIRE(cells.Flush().ok());
      REQUIRE(cells.Mutate("tsdb-uid", {{"k", {DeleteColumn("id", "q")}}}).ok());
      REQUIRE(cells.Flush().ok());
      // Tombstones are merged away when they are old enough, without a flush that would start this.
      clock.AdvanceMs(30 * 3'600'000);
      CHECK(store->Stats().merges == 0);
    } else {
      WaitUntil([&] { return store->Stats().merges > 0; });
    }
    CHECK(store->Close().ok());
  }
}

// Retention drops files in this way.
TEST_CASE("series whose files were dropped are forgotten without a command") {
  constexpr uint32_t kHour = 472'222 * 3600;
  FaultyFileSystem disk(1);
  ManualClock clock(int64_t{1'790'000'000} * 1000);
  EmbeddedOptions options;
  options.path = "d";
  options.log_file_bytes = 1 << 20;
  options.check_interval_ms = options.sweep_interval_ms = 5;
  auto store = std::move(*Embedded::Open(options, disk, clock));
  Points& points = store->points();
  for (const uint32_t day : {0, 1}) {  // each with its own series and its own file
    const auto series = points.Register("\0\0\1\0\0\1\0\0"s + static_cast<char>(1 + day));
    REQUIRE(series.ok());
    const PointEntry entry =
        MakePointEntry(*series, Timestamp{kHour + day * 86400}, PointValue::Int(1));
    REQUIRE(points.Append({&entry, 1}).ok());
    REQUIRE(store->cells().Flush().ok());
  }
  CHECK(store->Stats().series == 2);
  REQUIRE(points.DropFiles([](ByteView) { return kHour + 3600; }).ok());
  WaitUntil([&] { return store->Stats().series < 2; });
  CHECK(store->Stats().series == 1);
  CHECK(store->Close().ok());
}

TEST_CASE("a failed merge is retried, and a close does not wait for it") {
  StarvingDisk disk;
  ManualClock clock(1'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.log_file_bytes = 1 << 20;
  disk.starves = false;
  auto store = std::move(*Embedded::Open(options, disk, clock));
  for (int run = 0; run < 2; ++run) {
    REQUIRE(store->cells().Mutate("tsdb-uid", {{"k", {PutCell("id", "q", "v")}}}).ok());
    REQUIRE(store->cells().Flush().ok());
  }
  disk.starves = true;
  CHECK_FALSE(store->cells().Compact().ok());
  CHECK_FALSE(store->cells().Compact().ok());
  disk.starves = false;
  CHECK(store->cells().Compact().ok());
  // Merging regions on a full disk fails in the same way.
  REQUIRE(store->cells().Split("tsdb-uid", "k", Bytes("k")).ok());
  disk.starves = true;
  CHECK_FALSE(store->cells().MergeRegions("tsdb-uid", "k").ok());
  disk.starves = false;
  CHECK(store->cells().MergeRegions("tsdb-uid", "k").ok());
  CHECK(store->cells().Get("tsdb-uid", "k")->cells.size() == 1);
  CHECK(store->Close().ok());
}

// Cell files are created, and then they or the manifest fail.
class HalfOpeningDisk : public FaultyFileSystem {
 public:
  enum class Fails : uint8_t { kNever, kMaking, kReading, kManifest };
  HalfOpeningDisk() : FaultyFileSystem(1) {}
  Fails fails = Fails::kNever;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    const bool of_cells = path.ends_with(".cells");
    if (fails == Fails::kReading && of_cells && mode == OpenMode::kRead) {
      return Status::IoError(path + ": too many open files");
    }
    if (fails == Fails::kManifest && path.ends_with("MANIFEST.tmp")) {
      return Status::IoError(path + ": no space left on device");
    }
    auto file = FaultyFileSystem::Open(path, mode);
    if (fails == Fails::kMaking && of_cells && mode == OpenMode::kCreate) throw std::bad_alloc();
    return file;
  }
  size_t Cells() {
    const auto names = *List("d");
    return static_cast<size_t>(std::count_if(
        names.begin(), names.end(), [](const auto& name) { return name.ends_with(".cells"); }));
  }
};

TEST_CASE("failed work leaves no files behind") {
  HalfOpeningDisk disk;
  ManualClock clock(1'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.log_file_bytes = 1 << 20;
  options.background = false;
  auto store = std::move(*Embedded::Open(options, disk, clock));
  Store& cells = store->cells();
  const auto put = [&](const char* key) {
    REQUIRE(cells.Mutate("tsdb-uid", {{key, {PutCell("id", "q", "v")}}}).ok());
  };
  const auto breaks_off = [&](const std::function<Status()>& work) {
    const size_t before = disk.Cells();
    for (const auto fails : {HalfOpeningDisk::Fails::kReading, HalfOpeningDisk::Fails::kMaking,
                             HalfOpeningDisk::Fails::kManifest}) {
      disk.fails = fails;
      for (int i = 0; i < 3; ++i) CHECK_FALSE(work().ok());
      CHECK(disk.Cells() == before);
    }
    disk.fails = HalfOpeningDisk::Fails::kNever;
    CHECK(work().ok());
  };
  put("k");
  breaks_off([&] { return cells.Flush(); });
  put("l");
  REQUIRE(cells.Flush().ok());
  breaks_off([&] { return cells.Compact(); });
  REQUIRE(cells.Split("tsdb-uid", "k", Bytes("l")).ok());
  breaks_off([&] { return cells.MergeRegions("tsdb-uid", "l"); });
  CHECK(cells.Get("tsdb-uid", "k")->cells.size() == 1);
  CHECK(cells.Get("tsdb-uid", "l")->cells.size() == 1);
  CHECK(store->Close().ok());
}

}  // namespace
}  // namespace hg
