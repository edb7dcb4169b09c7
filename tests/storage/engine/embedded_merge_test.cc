// Automatic work of the embedded store: when regions are flushed, merged and split (region-store.md
// W3, W8 to W13, R9 to R13, C1 to C5).

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1699920000;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.background = false;
  return options;
}

// The machine's files, with a way to block the creation of a cell file.
class GateFiles : public FileSystem {
 public:
  // The next cell file that is created waits for Release.
  void HoldNext() {
    std::lock_guard lock(mutex_);
    hold_ = true;
  }
  void WaitUntilHeld() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_; });
  }
  void Release() {
    std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kCreate && path.ends_with(".cells")) {
      std::unique_lock lock(mutex_);
      if (hold_ && !held_) {
        held_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return released_; });
      }
    }
    return disk_.Open(path, mode);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return disk_.Rename(from, to);
  }
  Status Remove(const std::string& path) override { return disk_.Remove(path); }
  bool Exists(const std::string& path) override { return disk_.Exists(path); }
  Result<std::vector<std::string>> List(const std::string& folder) override {
    return disk_.List(folder);
  }
  Result<std::vector<std::string>> ListFolders(const std::string& folder) override {
    return disk_.ListFolders(folder);
  }
  Status CreateFolder(const std::string& folder) override { return disk_.CreateFolder(folder); }
  Status SyncFolder(const std::string& folder) override { return disk_.SyncFolder(folder); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                         const std::string& note) override {
    return disk_.Lock(path, note);
  }

 private:
  FileSystem& disk_ = PosixFileSystem();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hold_ = false, held_ = false, released_ = false;  // guarded by mutex_
};

// Returns n bytes that Snappy cannot compress, different for each seed.
Bytes Noise(uint64_t seed, size_t n) {
  Bytes bytes;
  for (uint64_t i = 1; bytes.size() < n; ++i) {
    AppendBig(&bytes, (i + seed * 1'000'000) * 0x9E3779B97F4A7C15, 8);
  }
  return bytes;
}

struct Fixture {
  explicit Fixture(EmbeddedOptions options, int64_t now_ms = int64_t{kBase} * 1000)
      : clock(now_ms) {
    options.path = folder.path();
    auto opened = engine::Engine::Open(options, files, clock);
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    table = *engine->FindTable("tsdb-uid");
  }

  void Put(const Bytes& key, const Bytes& value = "v") {
    REQUIRE(engine->Write(*table, key, {PutCell("id", "q", value)}).ok());
  }
  [[nodiscard]] engine::Parts PartsOf(const Bytes& key) const {
    const auto version = engine->Pin();
    return version->PartsOf(table->id, version->RegionsOf(table->id).IdOf(key));
  }
  [[nodiscard]] size_t CountRegions() const { return engine->Pin()->RegionsOf(table->id).count(); }
  [[nodiscard]] bool AnyTombstone(const Bytes& key) const {
    const auto parts = PartsOf(key);
    return std::any_of(parts.begin(), parts.end(),
                       [](const auto& part) { return part->entry().tombstones; });
  }

  TempFolder folder;
  GateFiles files;
  ManualClock clock;
  std::unique_ptr<engine::Engine> engine;
  const engine::Table* table = nullptr;
};

using Pool = engine::Engine::MergePool;

TEST_CASE("a region is split at exactly its threshold, and never without a policy") {
  EmbeddedOptions options = Options();
  const auto count_at = [&](region::SplitRule rule, int64_t more) {
    uint64_t bytes = 0;
    for (const bool measure : {true, false}) {
      options.split.rule = measure ? region::SplitRule::kNone : rule;
      options.split.jitter = 0;
      options.split.bytes_max = bytes + static_cast<uint64_t>(more);
      Fixture f(options);
      for (const char* key : {"a", "b", "c", "d"}) f.Put(key, Bytes(1000, 'x'));
      REQUIRE(f.engine->Flush().ok());
      bytes = f.PartsOf("a")[0]->bytes();
      REQUIRE(f.engine->SplitWhereDue().ok());
      if (!measure) return f.CountRegions();
    }
    return size_t{0};
  };
  CHECK(count_at(region::SplitRule::kConstant, 0) == 2);
  CHECK(count_at(region::SplitRule::kConstant, 1) == 1);
  CHECK(count_at(region::SplitRule::kNone, -1000) == 1);
}

TEST_CASE("a single group of rows that is too large is not split, and not tried repeatedly") {
  EmbeddedOptions options = Options();
  options.split.rule = region::SplitRule::kConstant;
  options.split.bytes_max = 1;
  Fixture f(options);
  f.Put("row", Bytes(1000, 'x'));
  REQUIRE(f.engine->Flush().ok());
  for (int i = 0; i < 3; ++i) REQUIRE(f.engine->SplitWhereDue().ok());
  CHECK(f.CountRegions() == 1);
}

TEST_CASE(
    "a table is split by its own policy, between groups of rows, and at once after a change "
    "of the policy") {
  using Policy = TableSplitPolicy;
  for (const auto rule : {region::SplitRule::kNone, region::SplitRule::kConstant}) {
    EmbeddedOptions options = Options();
    options.split.rule = rule;
    options.split.unit_bytes = options.split.bytes_max = 1;
    Fixture f(options);
    const auto set_policy = [&](const Policy& policy) {
      TableDescriptor altered = f.table->descriptor;
      altered.split_policy = policy;
      REQUIRE(f.engine->AlterTable(altered).ok());
      f.table = *f.engine->FindTable("tsdb-uid");
      CHECK(f.table->descriptor.split_policy == policy);
    };
    const auto split = [&] {
      REQUIRE(f.engine->SplitWhereDue().ok());
      REQUIRE(f.engine->MergePending(Pool::kAny).ok());
      const auto version = f.engine->Pin();
      const region::RegionMap& regions = version->RegionsOf(f.table->id);
      std::vector<Bytes> starts;
      for (size_t i = 1; i < regions.count(); ++i) starts.push_back(regions.Start(i));
      return starts;
    };
    set_policy({Policy::Kind::kDisabled, 0, ""});
    for (int i = 0; i < 40; ++i) f.Put("user1-" + std::to_string(i));
    REQUIRE(f.engine->Flush().ok());
    CHECK(split().empty());
    set_policy({Policy::Kind::kKeyPrefix, 6, ""});
    CHECK(split().empty());  // one group
    set_policy({Policy::Kind::kKeyPrefix, 7, ""});
    CHECK(split() == std::vector<Bytes>{"user1-3"});
    f.Put("user2-1");
    REQUIRE(f.engine->Flush().ok());
    set_policy({Policy::Kind::kDelimitedKeyPrefix, 0, "-"});
    // The second region begins inside the group of user1.
    CHECK(split() == std::vector<Bytes>{"user1-3", "user2-"});
    for (int i = 0; i < 3; ++i) CHECK(split().size() == 2);
  }
}

TEST_CASE("a split at a given key is moved to the first key of its group of rows") {
  Fixture f(Options());
  TableDescriptor altered = f.table->descriptor;
  altered.split_policy = {TableSplitPolicy::Kind::kDelimitedKeyPrefix, 0, "-"};
  REQUIRE(f.engine->AlterTable(altered).ok());
  for (const char* key : {"a-1", "b-1", "b-2"}) f.Put(key);
  REQUIRE(f.engine->Flush().ok());
  f.table = *f.engine->FindTable("tsdb-uid");
  CHECK(*f.engine->Split(*f.table, "", Bytes("b-2")) == "b-");
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  CHECK(f.engine->Split(*f.table, "b-", Bytes("b-2")).status().code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("no region is split automatically beyond the maximum number of regions") {
  EmbeddedOptions options = Options();
  options.split.rule = region::SplitRule::kConstant;
  options.split.bytes_max = 1;
  options.split.regions_max = 6;  // of five tables
  Fixture f(options);
  for (int i = 0; i < 50; ++i) f.Put("row" + std::to_string(i));
  for (int i = 0; i < 5; ++i) {
    REQUIRE(f.engine->Flush().ok());
    REQUIRE(f.engine->SplitWhereDue().ok());
    REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  }
  CHECK(f.engine->Stats().regions == 6);
}

TEST_CASE("a minor merge keeps tombstones, and a merge of all parts drops them") {
  EmbeddedOptions options = Options();
  Fixture f(options);
  f.Put("row", "old");
  f.Put("other");
  REQUIRE(f.engine->Flush().ok());
  // This file is larger than the later ones together, so a minor merge takes only the later ones.
  for (uint64_t i = 0; i < 40; ++i) f.Put("big" + std::to_string(i), Noise(i, 1 << 19));
  REQUIRE(f.engine->Flush().ok());
  REQUIRE(f.engine->Compact(*f.table).ok());
  REQUIRE(f.engine->Write(*f.table, "row", {DeleteColumn("id", "q")}).ok());
  REQUIRE(f.engine->Flush().ok());
  for (int i = 0; i < 2; ++i) {
    f.Put("more" + std::to_string(i));
    REQUIRE(f.engine->Flush().ok());
  }
  REQUIRE(f.PartsOf("row").size() == 4);
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  CHECK(f.PartsOf("row").size() == 2);
  CHECK(f.AnyTombstone("row"));
  const auto row = f.engine->rows().Read(*f.engine->Pin(), *f.table, "row");
  REQUIRE(row.ok());
  CHECK(row->cells.HasTombstones());
  // A merge of all files starts by itself after its period (region-store.md C4).
  f.clock.AdvanceMs(int64_t{11} * 24 * 3'600'000);
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  CHECK(f.PartsOf("row").size() == 1);
  CHECK(!f.AnyTombstone("row"));
  CHECK(f.engine->rows().Read(*f.engine->Pin(), *f.table, "row")->cells.empty());
}

TEST_CASE("a merge keeps an annotation that was written after its row was deleted") {
  Fixture f(Options());
  const engine::Table* const points = *f.engine->FindTable("tsdb");
  const Bytes key = codec::MakeRowKey(KeyLayout(), Bytes("\0\0\1\0\0\1\0\0\1", 9), kBase);
  const Bytes next = codec::MakeRowKey(KeyLayout(), Bytes("\0\0\1\0\0\1\0\0\2", 9), kBase);
  const Bytes note("\1\0\5", 3);
  const auto put = [&](const Bytes& row, const Bytes& qualifier, const Bytes& value) {
    REQUIRE(f.engine->Write(*points, row, {PutCell("t", qualifier, value)}).ok());
  };
  const auto parts = [&] {
    const auto version = f.engine->Pin();
    return version->PartsOf(points->id, version->RegionsOf(points->id).IdOf(key)).size();
  };
  put(key, Bytes("\0\0", 2), Bytes(1, '\1'));
  REQUIRE(f.engine->Flush().ok());
  REQUIRE(f.engine->Compact(*points).ok());
  // The tombstone of the row and the annotation are in newer files than the point.
  REQUIRE(
      f.engine->Write(*points, key, {{CellChange::Kind::kDeleteFamily, "t", {}, {}, {}, {}}}).ok());
  put(key, note, "text");
  REQUIRE(f.engine->Flush().ok());
  for (int i = 1; i <= 7; ++i) {
    put(next, Bytes({'\0', static_cast<char>(i << 4)}), Bytes(1, '\1'));
    REQUIRE(f.engine->Flush().ok());
  }
  const size_t before = parts();
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  CHECK(parts() > 1);  // without the file of the point
  CHECK(parts() < before);
  for (int all = 0; all < 2; ++all) {
    const auto row = f.engine->rows().Read(*f.engine->Pin(), *points, key);
    REQUIRE(row.ok());
    CHECK(row->row_part.points.empty());
    REQUIRE(row->row_part.raw.size() == 1);
    CHECK(row->row_part.raw[0].qualifier == note);
    CHECK(row->row_part.raw[0].value == "text");
    REQUIRE(f.engine->Compact(*points).ok());
  }
}

TEST_CASE("the data of an idle store is flushed within its maximum age and a tenth") {
  EmbeddedOptions options = Options();
  Fixture f(options);
  f.Put("row");
  f.clock.AdvanceMs(options.flush_age_ms - 1);
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.PartsOf("row").empty());
  f.clock.AdvanceMs(options.flush_age_ms / 10 + 1);
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.PartsOf("row").size() == 1);
}

TEST_CASE("while merges lag behind, flushes are postponed: one more file every 90 s") {
  EmbeddedOptions options = Options();
  options.flush_age_ms = 1000;
  Fixture f(options);
  for (int i = 0; i < 16; ++i) {
    f.Put("row");
    REQUIRE(f.engine->Flush().ok());
  }
  for (size_t more = 1; more <= 2; ++more) {
    f.Put("row");
    f.clock.AdvanceMs(2000);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    f.clock.AdvanceMs(89'999);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    CHECK(f.PartsOf("row").size() == 15 + more);
    f.clock.AdvanceMs(1);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    CHECK(f.PartsOf("row").size() == 16 + more);
  }
  // After this merge, merges no longer lag behind.
  REQUIRE(f.engine->MergePending(Pool::kAny).ok());
  f.Put("row");
  f.clock.AdvanceMs(2000);
  const size_t parts = f.PartsOf("row").size();
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.PartsOf("row").size() == parts + 1);
}

TEST_CASE("a requested flush is not postponed") {
  EmbeddedOptions options = Options();
  Fixture f(options);
  for (size_t i = 1; i <= 20; ++i) {
    f.Put("row");
    REQUIRE(f.engine->Flush().ok());
    CHECK(f.PartsOf("row").size() == i);
  }
}

TEST_CASE("each of the two merge threads runs merges of its size") {
  EmbeddedOptions options = Options();
  options.merge.large_bytes = 2000;
  Fixture f(options);
  REQUIRE(f.engine->Split(*f.table, "", Bytes("m")).ok());
  for (uint64_t i = 0; i < 3; ++i) {
    f.Put("small");
    f.Put("a large one" + std::to_string(i), Noise(i, 2048));
    REQUIRE(f.engine->Flush().ok());
  }
  REQUIRE(f.PartsOf("a").size() == 3);
  REQUIRE(f.PartsOf("small").size() == 3);
  REQUIRE(f.engine->MergePending(Pool::kSmall).ok());
  CHECK(f.PartsOf("a").size() == 3);
  CHECK(f.PartsOf("small").size() == 1);
  REQUIRE(f.engine->MergePending(Pool::kLarge).ok());
  CHECK(f.PartsOf("a").size() == 1);
}

// The clock is set back by an hour between the two merges. A merge that counts its bytes after
// those of an earlier merge then has to wait for an hour, and one that counts only its own bytes
// does not wait.
TEST_CASE("the merges of both threads, of all regions and of all tables share one write rate") {
  constexpr uint64_t kRowBytes = 100'000;
  for (const bool other_table : {false, true}) {
    for (const bool merged_before : {false, true}) {
      CAPTURE(other_table);
      CAPTURE(merged_before);
      EmbeddedOptions options = Options();
      options.merge.large_bytes = 20 * kRowBytes;
      Fixture f(options);
      REQUIRE(f.engine->Split(*f.table, "", Bytes("m")).ok());
      const engine::Table* const large = other_table ? *f.engine->FindTable("tsdb-meta") : f.table;
      for (uint64_t part = 0; part < 3; ++part) {
        for (uint64_t row = 0; row < 8; ++row) {
          const std::string key = std::to_string(8 * part + row);
          if (row < 4) f.Put("a" + key, Noise(8 * part + row, kRowBytes));
          REQUIRE(f.engine
                      ->Write(*large, "z" + key,
                              {PutCell(other_table ? "name" : "id", "q",
                                       Noise(100 + 8 * part + row, kRowBytes))})
                      .ok());
        }
        REQUIRE(f.engine->Flush().ok());
      }
      REQUIRE(f.PartsOf("a").size() == 3);
      const auto large_parts = [&] {
        const auto version = f.engine->Pin();
        return version->PartsOf(large->id, version->RegionsOf(large->id).IdOf("z")).size();
      };
      REQUIRE(large_parts() == 3);
      if (merged_before) {
        REQUIRE(f.engine->MergePending(Pool::kSmall).ok());
        REQUIRE(f.PartsOf("a").size() == 1);
      }
      f.clock.AdvanceMs(-3'600'000);
      auto merge =
          std::async(std::launch::async, [&] { return f.engine->MergePending(Pool::kLarge); });
      if (merged_before) {
        CHECK(merge.wait_for(std::chrono::seconds(1)) == std::future_status::timeout);
        REQUIRE(f.engine->Close().ok());  // ends the wait and the merge
        REQUIRE(merge.wait_for(std::chrono::minutes(5)) == std::future_status::ready);
      } else {
        CHECK(merge.get().ok());
      }
      CHECK(large_parts() == (merged_before ? 3 : 1));
    }
  }
}

TEST_CASE("unflushed data of an idle region does not keep the log files of a busy one") {
  EmbeddedOptions options = Options();
  options.log_file_bytes = 1 << 12;
  options.log_max_bytes = 1 << 16;
  Fixture f(options);
  REQUIRE(f.engine->Split(*f.table, "", Bytes("m")).ok());
  f.Put("idle");
  size_t log_files_max = 0;
  for (int i = 0; i < 2000; ++i) {
    f.Put("z" + std::to_string(i), Bytes(100, 'x'));
    REQUIRE(f.engine->FlushIfNeeded().ok());
    size_t log_files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(f.folder.path())) {
      log_files += entry.path().extension() == ".log" ? 1 : 0;
    }
    log_files_max = std::max(log_files_max, log_files);
  }
  CHECK(f.PartsOf("idle").size() == 1);
  CHECK(f.PartsOf("z").size() > 2);
  CHECK(f.engine->Stats().log_bytes <= (1 << 16) + 4096);
  CHECK(log_files_max < 2 * ((1 << 16) / (1 << 12)) + 4);
}

// Both merges have a write of one column with the same time. The later write must stay the later
// one (region-store.md C3), and the small merge need not wait for the large one (region-store.md
// C5).
TEST_CASE("a large merge does not delay a small one of its region, and their order stays") {
  EmbeddedOptions options = Options();
  options.merge.large_bytes = 2000;
  Fixture f(options);
  const auto put_at_one_time = [&](const Bytes& value) {
    CellChange put = PutCell("id", "q", value);
    put.timestamp_ms = 1000;
    REQUIRE(f.engine->Write(*f.table, "row", {put}).ok());
  };
  for (uint64_t i = 0; i < 3; ++i) {
    f.Put("large" + std::to_string(i), Noise(i, 2048));
    put_at_one_time("old" + std::to_string(i));
    REQUIRE(f.engine->Flush().ok());
  }
  f.files.HoldNext();
  std::thread large([&] { REQUIRE(f.engine->MergePending(Pool::kLarge).ok()); });
  f.files.WaitUntilHeld();
  for (int i = 0; i < 3; ++i) {
    put_at_one_time("new" + std::to_string(i));
    REQUIRE(f.engine->Flush().ok());
  }
  CHECK(f.PartsOf("row").size() == 6);
  REQUIRE(f.engine->MergePending(Pool::kSmall).ok());
  CHECK(f.PartsOf("row").size() == 4);
  f.files.Release();
  large.join();
  CHECK(f.PartsOf("row").size() == 2);
  const auto value = [&] {
    return f.engine->rows().Read(*f.engine->Pin(), *f.table, "row")->cells.versions.at(0).value;
  };
  CHECK(value() == "new2");
  REQUIRE(f.engine->Compact(*f.table).ok());
  CHECK(value() == "new2");
}

TEST_CASE("memory is flushed by the first write above a quarter of its limit") {
  EmbeddedOptions options = Options();
  options.memory_limit_bytes = 64 << 20;
  Fixture f(options);
  const uint64_t quarter = f.engine->Stats().memory_limit_bytes / 4;
  for (uint64_t i = 0;; ++i) {
    f.Put("row" + std::to_string(i), Noise(i, 4096));
    const uint64_t bytes = f.engine->Stats().memory_bytes;
    REQUIRE(f.engine->FlushIfNeeded().ok());
    const bool flushed = f.engine->Stats().flushes > 0;
    CHECK(flushed == (bytes > quarter));
    if (flushed) break;
  }
}

TEST_CASE(
    "with many regions and little memory nothing blocks, nothing is lost, and the limit holds") {
  EmbeddedOptions options = Options();
  options.background = true;
  options.memory_limit_bytes = 16 << 20;
  TableDescriptor table{"many", {{"f"}}, false};
  for (int i = 1; i < 50; ++i) table.splits.emplace_back(1, static_cast<char>('0' + i));
  options.tables.push_back(table);
  Fixture f(options);
  const engine::Table* many = *f.engine->FindTable("many");
  REQUIRE(f.engine->Pin()->RegionsOf(many->id).count() == 50);
  constexpr uint64_t kWriters = 4, kRows = 2500, kRowBytes = 4096;
  const auto key_of = [](uint64_t writer, uint64_t i) {
    Bytes key(1, static_cast<char>('0' + (i * 7 + writer) % 50));
    AppendBig(&key, i * kWriters + writer, 4);
    return key;
  };
  const uint64_t limit = f.engine->Stats().memory_limit_bytes;
  // The next flush waits, so the writers reach the limit even on a fast disk.
  f.files.HoldNext();
  std::atomic<uint64_t> most{0}, refused{0}, failed{0};
  std::vector<std::thread> writers;
  for (uint64_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      const Bytes value = Noise(w, kRowBytes);
      for (uint64_t i = 0; i < kRows;) {
        const auto written = f.engine->Write(*many, key_of(w, i), {PutCell("f", "q", value)});
        uint64_t now = f.engine->Stats().memory_bytes, before = most;
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
        if (written.ok()) {
          ++i;
        } else if (written.status().code() == StatusCode::kBusy) {
          if (refused++ == 0) f.files.Release();
          std::this_thread::yield();
        } else {
          ++failed;
          return;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failed == 0);
  CHECK(refused > 0);
  CHECK(most <= limit + kWriters * 2 * kRowBytes);
  uint64_t rows = 0;
  for (uint64_t w = 0; w < kWriters; ++w) {
    for (uint64_t i = 0; i < kRows; ++i) {
      rows += f.engine->rows().Read(*f.engine->Pin(), *many, key_of(w, i))->cells.versions.size();
    }
  }
  CHECK(rows == kWriters * kRows);
}

}  // namespace
}  // namespace hg
