// A region whose files cannot be read affects its own merges only.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr auto kAny = engine::Engine::MergePool::kAny;

// A disk that can call a function when a file is created.
struct HookedDisk : FaultyFileSystem {
  using FaultyFileSystem::FaultyFileSystem;

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kCreate && on_create) std::exchange(on_create, nullptr)();
    return FaultyFileSystem::Open(path, mode);
  }

  std::function<void()> on_create;  // called once
};

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.log_file_bytes = 1 << 20;
  options.background = false;
  return options;
}

// Two regions of tsdb-uid: "bad" in the first one and "good" in the second one.
struct Fixture {
  explicit Fixture(const EmbeddedOptions& with = Options()) : options(with) {
    Open();
    REQUIRE(engine->Split(*table, "", Bytes("c")).ok());
  }

  void Open() {
    engine = nullptr;
    auto opened = engine::Engine::Open(options, disk, clock);
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    table = *engine->FindTable("tsdb-uid");
  }
  void Put(const Bytes& key) {
    Bytes noise;  // so that most of a file is one block
    while (noise.size() < 1000) AppendBig(&noise, random(), 8);
    REQUIRE(engine->Write(*table, key, {PutCell("id", "q", noise)}).ok());
  }
  void FlushBoth() {
    Put("bad");
    Put("good");
    REQUIRE(engine->Flush().ok());
  }
  [[nodiscard]] engine::Parts PartsOf(const Bytes& key) const {
    const auto version = engine->Pin();
    return version->PartsOf(table->id, version->RegionsOf(table->id).IdOf(key));
  }
  // Damages the newest file of "bad". A second call restores it.
  void Damage() {
    damaged = engine::Part::CellsPath("d", PartsOf("bad").back()->entry().number);
    disk.FlipBit(damaged, 500, 3);
  }

  EmbeddedOptions options;
  HookedDisk disk{1};
  ManualClock clock{int64_t{1'699'920'000'000}};
  std::unique_ptr<engine::Engine> engine;
  const engine::Table* table = nullptr;
  std::string damaged;
  std::mt19937_64 random{1};
};

TEST_CASE("a region whose merge fails is set aside, reported, and tried again later") {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.FlushBoth();
  f.Put("bad");
  REQUIRE(f.engine->Flush().ok());
  REQUIRE(f.PartsOf("bad").size() == 4);  // more than the other region, so it is the first one
  f.Damage();
  const auto fails = [&] {
    const Status status = f.engine->MergePending(kAny);
    CHECK(status.code() == StatusCode::kCorruption);
    CHECK(status.message().find("table tsdb-uid, region [, c): merge: " + f.damaged + " at ") == 0);
    CHECK(f.engine->Stats().regions_unmerged == 1);
  };
  fails();
  CHECK(f.PartsOf("bad").size() == 4);
  CHECK(f.PartsOf("good").size() == 1);
  f.Damage();
  fails();  // the merge is not tried again yet
  f.clock.AdvanceMs(f.options.check_interval_ms);
  CHECK(f.engine->MergePending(kAny).ok());
  CHECK(f.engine->Stats().regions_unmerged == 0);
  CHECK(f.PartsOf("bad").size() == 1);
}

TEST_CASE("a region that keeps failing is tried less and less often, but at least once an hour") {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.FlushBoth();
  f.Damage();
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  int64_t wait_ms = f.options.check_interval_ms;
  for (int i = 0; i < 8; ++i) {
    CAPTURE(wait_ms);
    f.clock.AdvanceMs(wait_ms - 1);
    f.Damage();
    CHECK_FALSE(f.engine->MergePending(kAny).ok());  // not tried again yet
    f.Damage();
    f.clock.AdvanceMs(1);
    CHECK_FALSE(f.engine->MergePending(kAny).ok());
    wait_ms = std::min<int64_t>(2 * wait_ms, 3'600'000);
  }
  f.Damage();
  f.clock.AdvanceMs(3'600'000);
  CHECK(f.engine->MergePending(kAny).ok());
}

TEST_CASE("merges of other files in a region do not cause earlier retries of its failing merge") {
  EmbeddedOptions options = Options();
  options.merge.small_bytes = 0;
  options.merge.parts_max = 3;
  Fixture f(options);
  for (int i = 0; i < 3; ++i) f.FlushBoth();
  f.damaged = engine::Part::CellsPath("d", f.PartsOf("bad")[1]->entry().number);
  f.disk.FlipBit(f.damaged, 500, 3);
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(f.engine->Write(*f.table, "bad", {PutCell("id", "r", "small")}).ok());
    REQUIRE(f.engine->Flush().ok());
  }
  f.clock.AdvanceMs(f.options.check_interval_ms);
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  REQUIRE(f.PartsOf("bad").size() == 4);  // the small ones were merged
  f.disk.FlipBit(f.damaged, 500, 3);
  f.clock.AdvanceMs(f.options.check_interval_ms);
  CHECK_FALSE(f.engine->MergePending(kAny).ok());  // not tried again yet
  f.clock.AdvanceMs(f.options.check_interval_ms);
  CHECK(f.engine->MergePending(kAny).ok());
  CHECK(f.engine->Stats().regions_unmerged == 0);
}

TEST_CASE(
    "a failed merge stays reported while it is retried, even if nothing else is to be merged") {
  EmbeddedOptions options = Options();
  options.merge.large_bytes = 0;
  Fixture f(options);
  for (int i = 0; i < 3; ++i) {
    f.Put("bad");
    REQUIRE(f.engine->Flush().ok());
  }
  using Pool = engine::Engine::MergePool;
  f.disk.FailAllCalls();
  CHECK_FALSE(f.engine->MergePending(Pool::kLarge).ok());
  f.clock.AdvanceMs(f.options.check_interval_ms);
  f.disk.on_create = [&f] { CHECK_FALSE(f.engine->MergePending(Pool::kSmall).ok()); };
  CHECK_FALSE(f.engine->MergePending(Pool::kLarge).ok());
  CHECK_FALSE(f.disk.on_create);
  f.disk.FailCall(0);
  f.clock.AdvanceMs(f.options.check_interval_ms);
  CHECK_FALSE(f.engine->MergePending(Pool::kLarge).ok());  // not tried again yet
  f.clock.AdvanceMs(f.options.check_interval_ms);
  CHECK(f.engine->MergePending(Pool::kLarge).ok());
  CHECK(f.PartsOf("bad").size() == 1);
}

TEST_CASE("a merge that failed on a full disk is retried as soon as there is space") {
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    f.Put("bad");
    REQUIRE(f.engine->Flush().ok());
  }
  f.disk.FillUpAtCall(1);
  for (int64_t wait_ms = f.options.check_interval_ms; wait_ms < 3'600'000; wait_ms *= 2) {
    CHECK_FALSE(f.engine->MergePending(kAny).ok());
    f.clock.AdvanceMs(wait_ms);
  }
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  const uint64_t calls = f.disk.calls();
  f.clock.AdvanceMs(3'600'000 - 1);
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  CHECK(f.disk.calls() == calls);  // not tried
  f.disk.FailCall(0);
  CHECK(f.engine->MergePending(kAny).ok());
  CHECK(f.PartsOf("bad").size() == 1);
}

TEST_CASE("compacting all regions continues after a failing region and returns the first error") {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.FlushBoth();
  f.Damage();
  for (const bool of_table : {true, false}) {
    const Status status = of_table ? f.engine->Compact(*f.table) : f.engine->Compact();
    CHECK(status.code() == StatusCode::kCorruption);
    CHECK(status.message().find("region [, c)") != std::string_view::npos);
    CHECK(f.PartsOf("good").size() == 1);
    CHECK(f.PartsOf("bad").size() == 3);
  }
  // Once a manual merge succeeds, the failure is no longer reported.
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  f.Damage();
  CHECK(f.engine->Compact().ok());
  CHECK(f.engine->MergePending(kAny).ok());
}

TEST_CASE("flushes are not postponed for merges that cannot run") {
  EmbeddedOptions options = Options();
  options.flush_age_ms = 1000;
  Fixture f(options);
  for (size_t i = 0; i < options.merge.parts_blocking; ++i) {
    f.Put("bad");
    REQUIRE(f.engine->Flush().ok());
  }
  f.Damage();
  f.Put("bad");
  f.clock.AdvanceMs(2000);
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.PartsOf("bad").size() == options.merge.parts_blocking);
  CHECK_FALSE(f.engine->MergePending(kAny).ok());
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.PartsOf("bad").size() == options.merge.parts_blocking + 1);
}

TEST_CASE("regions are split although others cannot be merged or split") {
  EmbeddedOptions options = Options();
  Fixture f(options);
  for (int i = 0; i < 3; ++i) {
    f.Put("bar");
    f.Put("good2");
    f.FlushBoth();
  }
  f.Damage();
  f.options.split.rule = region::SplitRule::kConstant;
  f.options.split.bytes_max = 1;
  f.options.check_interval_ms = 5;
  f.options.background = true;
  f.Open();
  while (f.engine->Stats().splits == 0 || f.engine->Stats().background_error.empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(f.engine->Stats().background_error.find("region [, c)") != std::string::npos);
}

}  // namespace
}  // namespace hg
