#include "storage/lsm/log.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "storage/base/crc32c.h"
#include "storage/lsm/log_recovery.h"
#include "tests/fault/faulty_file.h"

namespace hg::lsm {
namespace {

LogOptions Options(bool synced = true) {
  LogOptions options;
  options.folder = "log";
  options.file_bytes = 400;
  options.sync_on_commit = synced;
  options.sync_interval_ms = 3'600'000;
  return options;
}

using Records = std::map<uint64_t, Bytes>;

Result<LogRecovery> Recover(FaultyFileSystem& disk, Records* records, uint64_t after = 0) {
  records->clear();
  return RecoverLog(disk, "log", 1, 0, after, [&](const LogRecord& record) {
    CHECK(record.kind == 7);
    (*records)[record.sequence] = record.body;
    return Status();
  });
}

Bytes Body(uint64_t i) { return "body " + std::to_string(i) + Bytes(i % 50, 'x'); }

// Adds the records first…last and commits each of them.
void Write(Log& log, uint64_t first, uint64_t last) {
  for (uint64_t i = first; i <= last; ++i) {
    const LogPosition end = log.Add(7, i, Body(i), crc32c::Value(Body(i)));
    REQUIRE(log.WaitWritten(end).ok());
  }
}

Records Expected(uint64_t first, uint64_t last) {
  Records records;
  for (uint64_t i = first; i <= last; ++i) records[i] = Body(i);
  return records;
}

std::string FileOf(FaultyFileSystem& disk, size_t i) { return "log/" + (*disk.List("log"))[i]; }

TEST_CASE("records are read back in order, over many files and several restarts") {
  FaultyFileSystem disk(1);
  Records records;
  LogStart start;
  for (uint64_t round = 0; round < 5; ++round) {
    {
      Log log(disk, Options(), start);
      Write(log, round * 20 + 1, round * 20 + 20);
    }
    auto recovered = Recover(disk, &records);
    INFO(recovered.status().ToString());
    REQUIRE(recovered.ok());
    CHECK(records == Expected(1, round * 20 + 20));
    CHECK(recovered->last_sequence == round * 20 + 20);
    start = recovered->next;
  }
  CHECK(disk.List("log")->size() > 5);
  REQUIRE(Recover(disk, &records, 70).ok());
  CHECK(records == Expected(71, 100));
}

TEST_CASE("Only names that the log creates are names of log files") {
  const auto number_of = [](const std::string& name) {
    uint64_t number = 0;
    return ParseLogFileName(name, &number) ? number : 0;
  };
  for (const uint64_t number :
       {uint64_t{1}, uint64_t{42}, uint64_t{999'999'999'999}, uint64_t{1'000'000'000'000}}) {
    CHECK(number_of(LogFileName(number)) == number);
  }
  for (const char* name :
       {"7.log", "20260101.log", "0000000000007.log", "000000000000.log", "00000000007.log",
        "99999999999999999999.log", "18446744073709551617.log", "00000000000x.log",
        "000000000007.log~", "000000000007.LOG", " 00000000007.log", ".log", ""}) {
    CAPTURE(name);
    CHECK(number_of(name) == 0);
  }
}

// A process without file descriptors can open nothing.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST_CASE(
    "A process without file descriptors syncs its log, and continues once it has some again") {
  std::string pattern = (std::filesystem::temp_directory_path() / "hourglass-log-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  LogOptions options = Options(false);
  options.folder = folder;
  options.retry_ms = 1;
  {
    Log log(PosixFileSystem(), options, {});
    auto add = [&, sequence = uint64_t{0}]() mutable {
      ++sequence;
      return log.Add(7, sequence, Body(sequence), crc32c::Value(Body(sequence)));
    };
    REQUIRE(log.WaitWritten(add()).ok());
    // UBSan opens a pipe when it checks an object of a type for the first time. This call makes it
    // check the result of a failed Open while descriptors are available.
    CHECK_FALSE(PosixFileSystem().Open(folder + "/absent", OpenMode::kRead).ok());
    {
      const NoDescriptors none;
      CHECK(log.WaitSynced(log.End()).ok());
      // The next file cannot be created for now.
      Status status;
      for (int i = 0; i < 20 && status.ok(); ++i) status = log.WaitWritten(add());
      CHECK(status.code() == StatusCode::kUnavailable);
      CHECK_FALSE(log.NeedsReopening());
    }
    for (int i = 0; i < 1000 && !log.Failure().ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(log.WaitSynced(add()).ok());
    CHECK(log.Close().ok());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("No record counts as synced before name_files has listed its log file") {
  FaultyFileSystem disk(1);
  bool refuses = true;
  std::vector<LogFile> named;
  LogOptions options = Options(false);
  options.name_files = [&](const std::list<LogFile>& files) {
    if (refuses) return Status::IoError("no room for names");
    named.insert(named.end(), files.begin(), files.end());
    return Status();
  };
  {
    Log log(disk, options, {});
    Write(log, 1, 20);
    const Status status = log.WaitSynced(log.End());
    CHECK(status.code() == StatusCode::kUnavailable);
    CHECK(status.message().find("no room for names") != std::string_view::npos);
    CHECK(log.Synced() == 0);
    // Callers that wait for no sync continue.
    Write(log, 21, 40);
    CHECK(log.Failure().ok());
    refuses = false;
    CHECK(log.WaitSynced(log.End()).ok());
    CHECK(log.Close().ok());
  }
  Records records;
  const auto recovered = Recover(disk, &records);
  REQUIRE(recovered.ok());
  CHECK(records == Expected(1, 40));
  CHECK(named.size() > 2);
  CHECK(recovered->files == named);
}

TEST_CASE("The log does not overwrite an existing file that is not listed") {
  FaultyFileSystem disk(1);
  LogOptions options = Options(false);
  options.retry_ms = 3'600'000;
  const auto file = disk.Open("log/" + LogFileName(1), OpenMode::kCreate);
  REQUIRE(file.ok());
  REQUIRE((*file)->WriteAt(0, "records of somebody").ok());
  Log log(disk, options, {});
  const Status refused = log.WaitWritten(log.Add(7, 1, Body(1), crc32c::Value(Body(1))));
  CHECK(refused.code() == StatusCode::kUnavailable);
  CHECK(refused.message().find(LogFileName(1)) != std::string_view::npos);
  CHECK(*ReadWholeFile(disk, "log/" + LogFileName(1)) == "records of somebody");
}

TEST_CASE("callbacks are called once, after their records are in the file") {
  for (const bool synced : {false, true}) {
    FaultyFileSystem disk(1);
    int calls = 0;
    {
      Log log(disk, Options(synced), {});
      for (uint64_t i = 1; i <= 30; ++i) {
        const LogPosition end = log.Add(7, i, Body(i), crc32c::Value(Body(i)));
        log.Commit(end, [&](Status status) {
          CHECK(status.ok());
          ++calls;
        });
        if (!synced) CHECK(calls == static_cast<int>(i));
      }
      REQUIRE(log.WaitSynced(log.End()).ok());
    }
    CHECK(calls == 30);
  }
}

TEST_CASE("a failed write refuses all writes until its bytes were written") {
  size_t refused = 0;
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    uint64_t last = 0;
    bool reached = false;
    {
      LogOptions options = Options(false);
      options.retry_ms = 1;
      Log log(disk, options, {});
      // The disk is full from its n-th call on. It is random how many bytes of a write succeed.
      disk.FillUpAtCall(n);
      Status status;
      const auto add = [&] {
        ++last;
        return log.WaitWritten(log.Add(7, last, Body(last), crc32c::Value(Body(last))));
      };
      while (last < 20 && status.ok()) status = add();
      reached = disk.failed();
      CHECK(status.ok() == !reached);
      if (reached) {
        CHECK(status.code() == StatusCode::kUnavailable);
        CHECK(log.Failure().code() == StatusCode::kUnavailable);
        log.Commit(log.End(), [&](const Status& s) { refused += s.ok() ? 0 : 1; });
      }
      disk.FailCall(0);
      while (!log.Failure().ok()) std::this_thread::yield();
      for (int i = 0; i < 10; ++i) REQUIRE(add().ok());
      REQUIRE(log.WaitSynced(log.End()).ok());
    }
    disk.PowerCut();
    Records records;
    REQUIRE(Recover(disk, &records).ok());
    CHECK(records == Expected(1, last));
    if (!reached) break;
  }
  CHECK(refused > 5);
}

TEST_CASE("a failed sync refuses all writes until the log is opened again") {
  FaultyFileSystem disk(1);
  LogOptions options = Options(false);
  options.retry_ms = 1;
  Log log(disk, options, {});
  Write(log, 1, 3);
  disk.FailAllCalls();
  CHECK(log.WaitSynced(log.End()).code() == StatusCode::kUnavailable);
  disk.FailCall(0);
  for (int i = 0; i < 20; ++i) {
    CHECK(log.WaitSynced(log.End()).code() == StatusCode::kUnavailable);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("an end that was never known to be durable is cut, wherever it is damaged") {
  FaultyFileSystem disk(1);
  {
    Log log(disk, Options(false), {});
    Write(log, 1, 40);
  }
  // The records contain no synced position, because the last sync was done when the log was closed.
  Records records;
  disk.FlipBit(FileOf(disk, 2), 60, 3);
  auto recovered = Recover(disk, &records);
  INFO(recovered.status().ToString());
  REQUIRE(recovered.ok());
  CHECK(!recovered->cut.empty());
  REQUIRE(!records.empty());
  const uint64_t left = records.rbegin()->first;
  CHECK(left < 40);
  CHECK(records == Expected(1, left));
  CHECK(disk.List("log")->size() <= 3);
  {
    Log log(disk, Options(false), recovered->next);
    Write(log, left + 1, 60);
  }
  REQUIRE(Recover(disk, &records).ok());
  CHECK(records == Expected(1, 60));
}

TEST_CASE("damage before the durable position is refused, with file and offset") {
  FaultyFileSystem disk(1);
  {
    Log log(disk, Options(true), {});
    for (uint64_t i = 1; i <= 40; ++i) {
      Write(log, i, i);
      REQUIRE(log.WaitSynced(log.End()).ok());
    }
  }
  const std::string file = FileOf(disk, 2);
  for (const uint64_t byte : {uint64_t{3}, uint64_t{20}, kLogFileHeaderBytes + 2, uint64_t{90}}) {
    CAPTURE(byte);
    Records records;
    disk.FlipBit(file, byte, 0);
    auto recovered = Recover(disk, &records);
    CHECK(recovered.status().code() == StatusCode::kCorruption);
    CHECK_MESSAGE(recovered.status().message().find(file) != std::string::npos,
                  recovered.status().ToString());
    disk.FlipBit(file, byte, 0);
    REQUIRE(Recover(disk, &records).ok());
    CHECK(records == Expected(1, 40));
  }
}

TEST_CASE("recycled files do not return their old records") {
  FaultyFileSystem disk(1);
  LogStart start;
  uint64_t first = 0;
  LogPosition first_position = 0;
  {
    Log log(disk, Options(), start);
    Write(log, 1, 40);
    const auto next = log.SwitchFile();
    log.Release(next.file_number);
    Write(log, 41, 43);
    first = next.file_number;
    first_position = next.position;
  }
  Records records;
  auto recovered = RecoverLog(disk, "log", first, first_position, 0, [&](const LogRecord& record) {
    records[record.sequence] = record.body;
    return Status();
  });
  REQUIRE(recovered.ok());
  CHECK(records == Expected(41, 43));
}

}  // namespace
}  // namespace hg::lsm
