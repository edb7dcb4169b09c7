// The data directory: locking, checks of its content, and refusals.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/commit_and_wait.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kTime = 1700002800;

EmbeddedOptions Options(const std::string& path) {
  EmbeddedOptions options;
  options.path = path;
  options.background = false;
  return options;
}

Status WritePoint(Embedded& store, uint64_t host, int64_t time, int64_t value) {
  auto number = store.points().Register(Tsuid(host));
  if (!number.ok()) return number.status();
  const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
  auto position = store.points().Append({&entry, 1});
  if (!position.ok()) return position.status();
  return CommitAndWait(store.points(), *position);
}

TEST_CASE("a series whose row key would be too long is refused, and the store continues") {
  TempFolder folder;
  for (int i = 0; i < 2; ++i) {
    auto store = Embedded::Open(Options(folder.path()));
    REQUIRE(store.ok());
    for (const size_t pairs : {5461, 11000}) {
      const Bytes tsuid = Bytes(3 + 6 * pairs, '\1');
      CHECK((*store)->points().Register(tsuid).status().code() == StatusCode::kInvalidArgument);
    }
    CHECK((*store)->points().Register(Bytes(3 + 6 * 5460, '\1')).ok());
    CHECK(WritePoint(**store, 1, kTime, 1).ok());
  }
}

TEST_CASE("a directory cannot be opened with another table of points than its own") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  options.tables = EmbeddedOptions::DefaultTables("other", "tsdb-uid", "tsdb-meta", "tsdb-tree");
  REQUIRE(Embedded::Open(options).ok());
  const Status refused = Embedded::Open(Options(folder.path())).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("has its points in table 'other', so 'tsdb' cannot") !=
        std::string::npos);
  REQUIRE(Embedded::Open(options).ok());
}

TEST_CASE("a directory in use is refused, with the process and its note in the error") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  options.lock_note = "127.0.0.1:4242";
  auto first = Embedded::Open(options);
  REQUIRE(first.ok());
  const Status refused = Embedded::Open(options).status();
  CHECK(refused.code() == StatusCode::kBusy);
  const std::string message(refused.message());
  CHECK(message.find(std::to_string(::getpid())) != std::string::npos);
  CHECK(message.find("127.0.0.1:4242") != std::string::npos);
  REQUIRE((*first)->Close().ok());
  CHECK(Embedded::Open(options).ok());
}

TEST_CASE(
    "a key layout other than the stored one is refused, with the differing width in the error") {
  TempFolder folder;
  REQUIRE(Embedded::Open(Options(folder.path())).ok());
  EmbeddedOptions options = Options(folder.path());
  options.layout.tagv_width = 4;
  const Status refused = Embedded::Open(options).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("tag value width 3") != std::string::npos);
}

TEST_CASE("after Close nothing is accepted") {
  TempFolder folder;
  auto store = Embedded::Open(Options(folder.path()));
  REQUIRE(store.ok());
  REQUIRE(WritePoint(**store, 1, kTime, 1).ok());
  REQUIRE((*store)->Close().ok());
  CHECK(WritePoint(**store, 1, kTime, 1).code() == StatusCode::kUnavailable);
  CHECK((*store)->cells().Flush().code() == StatusCode::kUnavailable);
  CHECK((*store)->Close().ok());
}

TEST_CASE("logged writes survive a killed process") {
  TempFolder folder;
  constexpr int kRounds = 5;
  constexpr int kEach = 200;
  for (int round = 0; round < kRounds; ++round) {
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = Embedded::Open(Options(folder.path()));
      char ok = store.ok() ? 1 : 0;
      for (int i = 0; i < kEach && ok; ++i) {
        ok = WritePoint(**store, static_cast<uint64_t>(1 + i % 7), kTime + round * kEach + i, i)
                 .ok();
      }
      if (ok && round % 2 == 1) ok = (*store)->cells().Flush().ok();
      if (::write(pipe[1], &ok, 1) != 1) ok = 0;
      ::kill(::getpid(), SIGKILL);
    }
    char ok = 0;
    CHECK(::read(pipe[0], &ok, 1) == 1);
    CHECK(ok == 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(pipe[0]);
    ::close(pipe[1]);
    auto store = Embedded::Open(Options(folder.path()));
    INFO(store.status().ToString());
    REQUIRE(store.ok());
    CHECK(CountPoints(**store) == static_cast<size_t>((round + 1) * kEach));
  }
}

TEST_CASE("writes above the memory limit are refused until a flush") {
  TempFolder folder;
  EmbeddedOptions options = Options(folder.path());
  options.memory_limit_bytes = 12 << 20;
  auto store = Embedded::Open(options);
  REQUIRE(store.ok());
  Status status;
  int64_t hour = 0;
  for (; status.ok() && hour < 100000; ++hour) status = WritePoint(**store, 1, hour * 3600, 1);
  CHECK(status.code() == StatusCode::kBusy);
  const auto accepted = static_cast<size_t>(hour) - 1;
  CHECK(CountPoints(**store) == accepted);
  REQUIRE((*store)->cells().Flush().ok());
  CHECK(WritePoint(**store, 1, hour * 3600, 1).ok());
  CHECK(CountPoints(**store) == accepted + 1);
}

TEST_CASE("a delete that cannot free memory now changes nothing and returns Busy") {
  size_t told = 0;
  for (uint64_t call = 1; call <= 10; ++call) {
    CAPTURE(call);
    FaultyFileSystem disk(1);
    ManualClock clock(kTime * 1000);
    EmbeddedOptions options = Options("d");
    options.memory_limit_bytes = 12 << 20;
    auto store = Embedded::Open(options, disk, clock);
    REQUIRE(store.ok());
    Store& cells = (*store)->cells();
    const auto stats = [&] { return (*store)->Stats(); };
    for (int i = 0; stats().memory_bytes <= stats().memory_limit_bytes / 8; ++i) {
      const Bytes key = "row" + std::to_string(i);
      REQUIRE(cells.Mutate("tsdb-uid", {{key, {PutCell("id", "q", Bytes(1000, 'x'))}}}).ok());
    }
    const auto is_there = [&] {
      const auto found = cells.Get("tsdb-uid", "row0");
      REQUIRE(found.ok());
      return !found->cells.empty();
    };
    disk.FailCall(call);
    const Status status = cells.DeleteRow("tsdb-uid", "row0");
    disk.FailCall(0);
    if (status.ok()) continue;
    CHECK((status.code() == StatusCode::kBusy || status.code() == StatusCode::kUnavailable));
    told += status.code() == StatusCode::kBusy ? 1 : 0;
    if (status.code() != StatusCode::kBusy) continue;
    CHECK(is_there());
    CHECK(cells.DeleteRow("tsdb-uid", "row0").ok());
    CHECK_FALSE(is_there());
  }
  CHECK(told > 0);
}

TEST_CASE("files that no manifest names are removed, and damaged files are found") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  {
    auto store = Embedded::Open(Options("d"), disk, clock);
    REQUIRE(store.ok());
    for (int i = 0; i < 100; ++i) REQUIRE(WritePoint(**store, 1, kTime + i, i).ok());
    REQUIRE((*store)->cells().Flush().ok());
    const auto whole = (*store)->maintenance().Check();
    REQUIRE(whole.ok());
    CHECK(whole->files == 2);
    CHECK(whole->damages.empty());
  }
  REQUIRE(disk.Open("d/000000999.cells", OpenMode::kCreate).ok());
  REQUIRE(disk.Open("d/000000999.points", OpenMode::kCreate).ok());
  std::string points;
  {
    auto store = Embedded::Open(Options("d"), disk, clock);
    REQUIRE(store.ok());
    CHECK(!disk.Exists("d/000000999.cells"));
    CHECK(!disk.Exists("d/000000999.points"));
    const auto names = disk.List("d");
    for (const std::string& name : *names) {
      if (name.find(".points") != std::string::npos) points = "d/" + name;
    }
    REQUIRE(!points.empty());
    disk.FlipBit(points, 20, 1);
    const auto damaged = (*store)->maintenance().Check();
    REQUIRE(damaged.ok());
    REQUIRE(damaged->damages.size() == 1);
    CHECK(damaged->damages[0].file == points);
  }
  REQUIRE(disk.Remove("d/MANIFEST").ok());
  CHECK(Embedded::Open(Options("d"), disk, clock).status().code() == StatusCode::kCorruption);
}

TEST_CASE("series keep their numbers over restarts, flushes and merges") {
  TempFolder folder;
  for (uint64_t round = 0; round < 4; ++round) {
    auto store = Embedded::Open(Options(folder.path()));
    REQUIRE(store.ok());
    for (uint64_t host = 0; host < 50 * (round + 1); ++host) {
      auto number = (*store)->points().Register(Tsuid(host));
      REQUIRE(number.ok());
      CHECK(*number == host);
      REQUIRE(WritePoint(**store, host, kTime, 1).ok());
    }
    if (round % 2 == 0) REQUIRE((*store)->cells().Flush().ok());
    if (round == 2) REQUIRE((*store)->cells().Compact().ok());
  }
}

}  // namespace
}  // namespace hg
