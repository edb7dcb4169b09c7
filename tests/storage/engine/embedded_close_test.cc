// Closing a store: what is kept, which calls are still accepted, and when the directory is
// released.

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/support/forwarding_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kTime = 1700002800;

// A disk that records when its lock is released, and counts changes after that.
class WatchedDisk : public FileSystem {
 public:
  explicit WatchedDisk(FileSystem& under) : under_(under) {}

  std::function<void()> on_read;    // called once, before the next read of a file
  std::function<void()> on_create;  // called before a file is created
  [[nodiscard]] size_t changes_without_lock() const { return late_; }

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kCreate || mode == OpenMode::kCreateNew) {
      Changes();
      if (on_create) on_create();
    }
    ASSIGN_OR_RETURN(auto file, under_.Open(path, mode));
    return std::unique_ptr<File>(std::make_unique<WatchedFile>(*this, std::move(file)));
  }
  Status Rename(const std::string& from, const std::string& to) override {
    Changes();
    return under_.Rename(from, to);
  }
  Status Remove(const std::string& path) override {
    Changes();
    return under_.Remove(path);
  }
  bool Exists(const std::string& path) override { return under_.Exists(path); }
  Result<std::vector<std::string>> List(const std::string& folder) override {
    return under_.List(folder);
  }
  Result<std::vector<std::string>> ListFolders(const std::string& folder) override {
    return under_.ListFolders(folder);
  }
  Status CreateFolder(const std::string& folder) override { return under_.CreateFolder(folder); }
  Status SyncFolder(const std::string& folder) override { return under_.SyncFolder(folder); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                         const std::string& note) override {
    ASSIGN_OR_RETURN(auto lock, under_.Lock(path, note));
    locked_ = true;
    return std::unique_ptr<FileLock>(std::make_unique<WatchedLock>(*this, std::move(lock)));
  }

 private:
  class WatchedFile : public ForwardingFile {
   public:
    WatchedFile(WatchedDisk& disk, std::unique_ptr<File> file)
        : ForwardingFile(std::move(file)), disk_(disk) {}
    Status ReadAt(uint64_t offset, size_t size, Bytes* out) const override {
      if (auto call = std::exchange(disk_.on_read, nullptr)) call();
      return ForwardingFile::ReadAt(offset, size, out);
    }
    Status WriteAt(uint64_t offset, ByteView bytes) override {
      disk_.Changes();
      return ForwardingFile::WriteAt(offset, bytes);
    }

   private:
    WatchedDisk& disk_;
  };
  class WatchedLock : public FileLock {
   public:
    WatchedLock(WatchedDisk& disk, std::unique_ptr<FileLock> lock)
        : disk_(disk), lock_(std::move(lock)) {}
    ~WatchedLock() override { disk_.locked_ = false; }

   private:
    WatchedDisk& disk_;
    const std::unique_ptr<FileLock> lock_;
  };
  void Changes() {
    if (!locked_) ++late_;
  }

  FileSystem& under_;
  std::atomic<bool> locked_{false};
  std::atomic<size_t> late_{0};
};

EmbeddedOptions Options(Durability durability) {
  EmbeddedOptions options;
  options.path = "d";
  options.durability = durability;
  options.background = false;
  options.sync_interval_ms = 3'600'000;
  return options;
}

Status AppendPoint(Embedded& store, int64_t time) {
  auto number = store.points().Register(Bytes("\0\0\1\0\0\1\0\0\1", 9));
  if (!number.ok()) return number.status();
  const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(1));
  return store.points().Append({&entry, 1}).status();
}

TEST_CASE("points without a log are in files after Close") {
  for (const bool background : {false, true}) {
    FaultyFileSystem disk(1);
    ManualClock clock(kTime * 1000);
    EmbeddedOptions options = Options(Durability::kNone);
    options.background = background;
    {
      auto store = Embedded::Open(options, disk, clock);
      REQUIRE(store.ok());
      for (int64_t i = 0; i < 100; ++i) REQUIRE(AppendPoint(**store, kTime + i).ok());
      REQUIRE((*store)->cells().Flush().ok());
      for (int64_t i = 100; i < 200; ++i) REQUIRE(AppendPoint(**store, kTime + i).ok());
      CHECK((*store)->Close().ok());
    }
    disk.PowerCut();
    auto store = Embedded::Open(options, disk, clock);
    REQUIRE(store.ok());
    CHECK(CountPoints(**store) == 200);
  }
}

TEST_CASE("Close reports that points without a log cannot be written") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(Durability::kNone), disk, clock);
  REQUIRE(store.ok());
  REQUIRE(AppendPoint(**store, kTime).ok());
  REQUIRE((*store)->cells().Sync().ok());
  disk.FailAllCalls();
  CHECK(!(*store)->Close().ok());
}

TEST_CASE("a write that began before Close and continues after it is refused") {
  FaultyFileSystem faulty(1);
  WatchedDisk disk(faulty);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(Durability::kLogged), disk, clock);
  REQUIRE(store.ok());
  RowMutation mutation{"row", {PutCell("id", "metrics", "old")}};
  REQUIRE((*store)->cells().Mutate("tsdb-uid", {mutation}).ok());
  REQUIRE((*store)->cells().Flush().ok());
  // The row is read from a file between the first check and the write lock.
  bool closed = false;
  disk.on_read = [&] { closed = (*store)->Close().ok(); };
  mutation.changes = {PutCell("id", "metrics", "new")};
  auto written = (*store)->cells().CompareAndMutate("id", "metrics", "old", "tsdb-uid", mutation);
  REQUIRE(closed);
  CHECK(written.status().code() == StatusCode::kUnavailable);
  store->reset();
  CHECK(disk.changes_without_lock() == 0);
}

TEST_CASE("Close does not wait until a flush has written the files of all regions") {
  FaultyFileSystem faulty(1);
  WatchedDisk disk(faulty);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(Durability::kLogged), disk, clock);
  REQUIRE(store.ok());
  Store& cells = (*store)->cells();
  TableDescriptor table{"many", {{"f"}}, false};
  for (char region = 'b'; region <= 'z'; ++region) table.splits.emplace_back(1, region);
  REQUIRE(cells.CreateTable(table).ok());
  for (char region = 'a'; region <= 'z'; ++region) {
    REQUIRE(cells.Mutate("many", {{Bytes(1, region), {PutCell("f", "q", "v")}}}).ok());
  }
  size_t files = 0;
  std::thread closing;
  disk.on_create = [&] {
    if (++files > 1) return;
    closing = std::thread([&] { CHECK((*store)->Close().ok()); });
    while (AppendPoint(**store, kTime).ok()) std::this_thread::yield();
  };
  CHECK(cells.Flush().code() == StatusCode::kUnavailable);
  closing.join();
  CHECK(files < 5);
}

TEST_CASE("nothing on the disk changes after Close has released the lock") {
  for (int round = 0; round < 30; ++round) {
    FaultyFileSystem faulty(1);
    WatchedDisk disk(faulty);
    ManualClock clock(kTime * 1000);
    auto store = Embedded::Open(Options(Durability::kLogged), disk, clock);
    REQUIRE(store.ok());
    std::atomic<int> inside{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int64_t i = 0; AppendPoint(**store, kTime + i % 3600).ok(); ++i) ++inside;
    });
    threads.emplace_back([&] {
      while ((*store)->cells().Flush().ok()) ++inside;
    });
    threads.emplace_back([&] {
      while ((*store)->cells().Compact().ok()) ++inside;
    });
    while (inside < 20 + round) std::this_thread::yield();
    CHECK((*store)->Close().ok());
    for (std::thread& thread : threads) thread.join();
    store->reset();
    REQUIRE(disk.changes_without_lock() == 0);
    CHECK(Embedded::Open(Options(Durability::kLogged), faulty, clock).ok());
  }
}

}  // namespace
}  // namespace hg
