// Threads that write for others: while some threads keep adding records, no thread waits without
// end.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "storage/base/crc32c.h"
#include "storage/lsm/log.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/forwarding_file.h"

namespace hg::lsm {
namespace {

// Calls `on_write` before each write to a file, and `on_sync` before each sync of one.
class HookedDisk : public FaultyFileSystem {
 public:
  using FaultyFileSystem::FaultyFileSystem;
  std::function<void()> on_write = [] {};
  std::function<void()> on_sync = [] {};

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    ASSIGN_OR_RETURN(auto file, FaultyFileSystem::Open(path, mode));
    return std::unique_ptr<File>(std::make_unique<HookedFile>(*this, std::move(file)));
  }

 private:
  class HookedFile : public ForwardingFile {
   public:
    HookedFile(HookedDisk& disk, std::unique_ptr<File> file)
        : ForwardingFile(std::move(file)), disk_(disk) {}
    Status WriteAt(uint64_t offset, ByteView bytes) override {
      disk_.on_write();
      return ForwardingFile::WriteAt(offset, bytes);
    }
    Status Sync() override {
      disk_.on_sync();
      return ForwardingFile::Sync();
    }

   private:
    HookedDisk& disk_;
  };
};

LogOptions TurnOptions() {
  LogOptions options;
  options.folder = "log";
  options.sync_interval_ms = 3'600'000;
  return options;
}

LogPosition AddOne(Log& log) {
  static std::atomic<uint64_t> sequence{0};
  return log.Add(7, ++sequence, "body", crc32c::Value("body"));
}

TEST_CASE("written data is synced while other threads continue to write") {
  HookedDisk disk(1);
  Log log(disk, TurnOptions(), {});
  std::mutex mutex;
  std::condition_variable changed;
  int writes = 0;
  bool blocked = false;
  bool released = false;
  bool in_time = false;
  disk.on_write = [&] {
    std::unique_lock lock(mutex);
    // The first write makes its thread write once more. The second one takes long.
    if (++writes == 1) (void)AddOne(log);
    if (writes != 2) return;
    blocked = true;
    changed.notify_all();
    in_time = changed.wait_for(lock, std::chrono::seconds(120), [&] { return released; });
  };
  const LogPosition first = AddOne(log);
  std::thread writer([&] { log.Commit(first, [](Status status) { CHECK(status.ok()); }); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return blocked; });
  }
  CHECK(log.WaitSynced(first).ok());
  {
    std::lock_guard lock(mutex);
    released = true;
    changed.notify_all();
  }
  writer.join();
  CHECK(in_time);
  CHECK(log.WaitSynced(log.End()).ok());
}

TEST_CASE("a thread that writes records of others returns soon, and all records are written") {
  constexpr int kOthers = 5000;
  HookedDisk disk(1);
  std::atomic<int> acknowledged{0};
  {
    Log log(disk, TurnOptions(), {});
    const std::thread::id loop = std::this_thread::get_id();
    int own_writes = 0;
    std::atomic<int> others{0};
    disk.on_write = [&] {
      if (std::this_thread::get_id() == loop) ++own_writes;
      if (++others > kOthers) return;
      log.Commit(AddOne(log), [&](Status status) { acknowledged += status.ok() ? 1 : 0; });
    };
    bool done = false;
    log.Commit(AddOne(log), [&](Status status) { done = status.ok(); });
    CHECK(done);
    CHECK(own_writes < 100);
    while (others <= kOthers) REQUIRE(log.WaitWritten(log.End()).ok());
    CHECK(log.Close().ok());
  }
  CHECK(acknowledged == kOthers);
}

TEST_CASE("A thread that writes records of others returns while a sync takes long") {
  constexpr int kOthers = 5000;
  HookedDisk disk(1);
  std::mutex mutex;
  std::condition_variable changed;
  bool syncing = false;
  bool released = false;
  std::atomic<int> acknowledged{0};
  {
    Log log(disk, TurnOptions(), {});
    disk.on_sync = [&] {
      std::unique_lock lock(mutex);
      syncing = true;
      changed.notify_all();
      changed.wait(lock, [&] { return released; });
    };
    const LogPosition first = AddOne(log);
    REQUIRE(log.WaitWritten(first).ok());
    std::thread waits([&] { CHECK(log.WaitSynced(first).ok()); });
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return syncing; });
    }
    const std::thread::id loop = std::this_thread::get_id();
    int own_writes = 0;
    std::atomic<int> others{0};
    disk.on_write = [&] {
      if (std::this_thread::get_id() == loop) ++own_writes;
      if (++others > kOthers) return;
      log.Commit(AddOne(log), [&](Status status) {
        acknowledged += status.ok() ? 1 : 0;
        std::lock_guard lock(mutex);
        changed.notify_all();
      });
    };
    bool done = false;
    log.Commit(AddOne(log), [&](Status status) { done = status.ok(); });
    CHECK(done);
    CHECK(own_writes < 100);
    // The sync is still running, and the other records are written.
    std::unique_lock lock(mutex);
    CHECK(
        changed.wait_for(lock, std::chrono::seconds(120), [&] { return acknowledged == kOthers; }));
    released = true;
    changed.notify_all();
    lock.unlock();
    waits.join();
    CHECK(log.Close().ok());
  }
  CHECK(acknowledged == kOthers);
}

TEST_CASE("after a failed sync a write in progress is not acknowledged") {
  HookedDisk disk(1);
  Log log(disk, TurnOptions(), {});
  REQUIRE(log.WaitWritten(AddOne(log)).ok());
  bool first = true;
  disk.on_write = [&] {
    if (!std::exchange(first, false)) return;
    // While this write runs, a sync of the earlier record fails. This write itself succeeds.
    disk.FailAllCalls();
    CHECK(!log.WaitSynced(log.End()).ok());
    disk.FailCall(0);
  };
  // The thread whose sync failed may be the one that reports it.
  std::promise<Status> answer;
  log.Commit(AddOne(log), [&](Status status) { answer.set_value(std::move(status)); });
  CHECK(answer.get_future().get().code() == StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hg::lsm
