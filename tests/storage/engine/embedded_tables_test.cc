// Tables of the embedded store: descriptors on disk, and the effect of their attributes on files.

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "storage/engine/embedded.h"
#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  return options;
}

std::unique_ptr<Embedded> Open(FaultyFileSystem& disk, const Clock& clock) {
  auto opened = Embedded::Open(Options(), disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

TableDescriptor Described(const Bytes& family) {
  TableDescriptor table{"g", {{family}}, false};
  table.families[0].versions = 7;
  return table;
}

// Every call to the disk fails in turn, then the power fails: the last request is complete or
// absent, and completed ones are there.
TEST_CASE("a kill between any two steps leaves a table complete or absent") {
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    ManualClock clock(1'000'000);
    auto store = Open(disk, clock);
    REQUIRE(store->cells().CreateTable(Described("before")).ok());
    REQUIRE(store->cells().Mutate("g", {{"k", {PutCell("before", "q", "v")}}}).ok());
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Sync().ok());
    disk.FailCall(n);
    TableDescriptor altered = Described("before");
    altered.families.push_back({"after"});
    const bool was_altered = store->cells().AlterTable(altered).ok();
    const bool was_created = store->cells().CreateTable({"new", {{"f"}}, false}).ok();
    const bool was_dropped = store->cells().DropTable("g").ok();
    const bool reached = disk.failed();
    disk.FailAllCalls();
    store.reset();
    disk.FailCall(0);
    disk.PowerCut();
    store = Open(disk, clock);
    const auto stored = store->cells().DescribeTable("g");
    if (was_dropped) {
      CHECK(stored.status().code() == StatusCode::kNotFound);
    } else if (stored.ok()) {
      CHECK((*stored == altered || (!was_altered && *stored == Described("before"))));
      CHECK(store->cells().Get("g", "k")->cells.size() == 1);
    }
    const auto made = store->cells().DescribeTable("new");
    if (was_created) CHECK(made.ok());
    if (made.ok()) CHECK(made->families == std::vector<FamilyDescriptor>{{"f"}});
    CHECK(store->cells().Flush().ok());
    CHECK(store->maintenance().Check()->damages.empty());
    if (!reached) break;
  }
}

TEST_CASE("altered tables stay altered over restarts, and rows of dropped tables stay gone") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  TableDescriptor uid = *store->cells().DescribeTable("tsdb-uid");
  uid.families[0].in_memory = true;
  REQUIRE(store->cells().AlterTable(uid).ok());
  REQUIRE(store->cells().CreateTable(Described("f")).ok());
  REQUIRE(store->cells().Mutate("g", {{"k", {PutCell("f", "q", "v")}}}).ok());
  REQUIRE(store->cells().DropTable("g").ok());
  store.reset();
  store = Open(disk, clock);  // its row is still in the log
  CHECK(*store->cells().DescribeTable("tsdb-uid") == uid);
  CHECK(store->cells().DescribeTable("g").status().code() == StatusCode::kNotFound);
  CHECK(store->cells().DropTable("tsdb").code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a split policy survives restarts, and creating its table with another policy fails") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  TableDescriptor table = Described("f");
  table.split_policy = {TableSplitPolicy::Kind::kKeyPrefix, 4, ""};
  TableDescriptor other = table;
  other.split_policy.prefix_length = 5;
  {
    auto store = Open(disk, clock);
    REQUIRE(store->cells().CreateTable(table).ok());
    REQUIRE(store->cells().CreateTable(table).ok());
    CHECK(store->cells().CreateTable(other).code() == StatusCode::kConflict);
    REQUIRE(store->cells().CreateTable(Described("f")).ok());  // any policy
  }
  {
    auto store = Open(disk, clock);
    CHECK(store->cells().DescribeTable("g")->split_policy == table.split_policy);
    REQUIRE(store->cells().AlterTable(other).ok());
  }
  auto store = Open(disk, clock);
  CHECK(store->cells().DescribeTable("g")->split_policy == other.split_policy);
  other.split_policy = {};
  REQUIRE(store->cells().AlterTable(other).ok());
  CHECK(store->cells().DescribeTable("g")->split_policy == TableSplitPolicy());
  TableDescriptor points = *store->cells().DescribeTable("tsdb");
  points.split_policy = table.split_policy;
  CHECK(store->cells().AlterTable(points).code() == StatusCode::kInvalidArgument);
}

TEST_CASE("an alteration of a table that has changed since it was described is refused") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  REQUIRE(store->cells().CreateTable(Described("f")).ok());
  const TableDescriptor before = *store->cells().DescribeTable("g");
  TableDescriptor one = before, two = before;
  one.families.push_back({"one"});
  two.families.push_back({"two"});
  REQUIRE(store->cells().AlterTable(one, &before).ok());
  CHECK(store->cells().AlterTable(two, &before).code() == StatusCode::kConflict);
  CHECK(store->cells().DescribeTable("g")->families.size() == 2);
  CHECK(store->cells().AlterTable(two, &one).ok());
}

TEST_CASE("a running daemon's tables keep the families that the daemon needs") {
  FaultyFileSystem disk(1);
  EmbeddedOptions options = Options();
  options.background = true;
  auto store = Embedded::Open(options, disk, SystemClock());
  REQUIRE(store.ok());
  TableDescriptor uid = *(*store)->cells().DescribeTable("tsdb-uid");
  uid.families.push_back({"more"});
  CHECK((*store)->cells().AlterTable(uid).ok());
  std::erase_if(uid.families, [](const FamilyDescriptor& family) { return family.name == "id"; });
  const Status refused = (*store)->cells().AlterTable(uid);
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("needs family 'id' of table 'tsdb-uid'") != std::string::npos);
}

TEST_CASE("a table cannot be created with a split key of more than 1024 bytes") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  TableDescriptor table = Described("f");
  table.splits = {Bytes(1024, 'a'), Bytes(1025, 'b')};
  CHECK(store->cells().CreateTable(table).code() == StatusCode::kInvalidArgument);
  table.splits.pop_back();
  CHECK(store->cells().CreateTable(table).ok());
}

TEST_CASE("an alteration without effect changes nothing, and the other alterations are limited") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto opened = engine::Engine::Open(Options(), disk, clock);
  REQUIRE(opened.ok());
  engine::Engine& engine = **opened;
  TableDescriptor table = Described("f");
  REQUIRE(engine.CreateTable(table).ok());
  const engine::Table* const created = *engine.FindTable("g");
  CHECK_FALSE(*engine.AlterTable(table));
  CHECK(*engine.FindTable("g") == created);
  for (uint32_t i = 0; i < engine::kAlterationsMax; ++i) {
    table.families[0].versions = i % 2 == 0 ? 8 : 7;
    REQUIRE(*engine.AlterTable(table));
  }
  CHECK_FALSE(*engine.AlterTable(table));
  table.families[0].versions = 9;
  CHECK(engine.AlterTable(table).status().code() == StatusCode::kLimitExceeded);
  CHECK((*engine.FindTable("g"))->descriptor.families[0].versions == 7);
}

TEST_CASE("A table that was dropped after it was found cannot be split, merged or compacted") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto opened = engine::Engine::Open(Options(), disk, clock);
  REQUIRE(opened.ok());
  engine::Engine& engine = **opened;
  REQUIRE(engine.CreateTable(Described("f")).ok());
  const engine::Table* const table = *engine.FindTable("g");
  REQUIRE(engine.Write(*table, "k", {PutCell("f", "q", "v")}).ok());
  REQUIRE(engine.Flush().ok());
  REQUIRE(engine.DropTable("g").ok());
  CHECK(engine.Split(*table, "k", "m").status().code() == StatusCode::kNotFound);
  CHECK(engine.Split(*table, "k", {}).status().code() == StatusCode::kNotFound);
  CHECK(engine.MergeRegions(*table, "m").code() == StatusCode::kNotFound);
  CHECK(engine.Compact(*table).code() == StatusCode::kNotFound);
  CHECK(engine.DropTable("g").code() == StatusCode::kNotFound);
}

TEST_CASE("Splits of tables that another thread drops and creates again end with a clear error") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  Store& cells = store->cells();
  std::atomic<bool> stop{false};
  std::thread dropper([&] {
    for (int i = 0; i < 100; ++i) {
      CHECK(cells.CreateTable(Described("f")).ok());
      CHECK(cells.Mutate("g", {{"k", {PutCell("f", "q", "v")}}}).ok());
      Status dropped;
      do {
        dropped = cells.DropTable("g");
        // DropTable returns Busy if the other thread split or merged regions at the same time.
      } while (dropped.code() == StatusCode::kBusy);
      CHECK(dropped.ok());
    }
    stop = true;
  });
  while (!stop) {
    for (const Bytes& at : {Bytes("b"), Bytes("m"), Bytes("x")}) {
      const Status split = cells.Split("g", at, at).status();
      const bool plain = split.ok() || split.code() == StatusCode::kNotFound ||
                         split.code() == StatusCode::kInvalidArgument ||
                         split.code() == StatusCode::kConflict;
      INFO(split.ToString());
      CHECK(plain);
      const Status merged = cells.MergeRegions("g", at);
      INFO(merged.ToString());
      CHECK((merged.ok() || merged.code() == StatusCode::kNotFound ||
             merged.code() == StatusCode::kInvalidArgument));
    }
  }
  dropper.join();
}

TEST_CASE("Tables can be created and dropped a thousand times, and none shows rows of another") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  for (int i = 0; i < 1000; ++i) {
    CAPTURE(i);
    REQUIRE(store->cells().CreateTable(Described("f")).ok());
    REQUIRE(store->cells().Get("g", "k")->empty());
    REQUIRE(store->cells().Mutate("g", {{"k", {PutCell("f", "q", std::to_string(i))}}}).ok());
    REQUIRE(store->cells().Get("g", "k")->cells.size() == 1);
    if (i % 100 == 0) REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().DropTable("g").ok());
  }
  REQUIRE(store->cells().CreateTable(Described("f")).ok());
  REQUIRE(store->cells().Mutate("g", {{"k", {PutCell("f", "q", "last")}}}).ok());
  store.reset();
  store = Open(disk, clock);
  const auto row = store->cells().Get("g", "k");
  REQUIRE(row.ok());
  REQUIRE(row->cells.size() == 1);
  CHECK(row->cells[0].value == "last");
  REQUIRE(store->cells().Flush().ok());
  CHECK(store->cells().Get("g", "k")->cells.size() == 1);
}

TEST_CASE("A cell with a time before 1970 may have its own TTL") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  REQUIRE(store->cells().CreateTable(Described("f")).ok());
  CellChange old = PutCell("f", "q", "v");
  old.timestamp_ms = std::numeric_limits<int64_t>::min() + 1;
  old.ttl_ms = 1000;
  REQUIRE(store->cells().Mutate("g", {{"k", {old}}}).ok());
  CHECK(store->cells().Get("g", "k")->empty());
  CellChange young = PutCell("f", "q", "v");
  young.timestamp_ms = 999'500;
  young.ttl_ms = std::numeric_limits<int64_t>::max();
  REQUIRE(store->cells().Mutate("g", {{"k", {young}}}).ok());
  CHECK(store->cells().Get("g", "k")->cells.size() == 1);
}

TEST_CASE("a change of compression and filter applies to files as they are rewritten") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  TableDescriptor table{"g", {{"f"}}, false};
  table.families[0].compression = "NONE";
  table.families[0].bloom_filter = BloomFilter::kNone;
  REQUIRE(store->cells().CreateTable(table).ok());
  for (int i = 0; i < 500; ++i) {
    REQUIRE(store->cells()
                .Mutate("g", {{"key" + std::to_string(i), {PutCell("f", "q", Bytes(100, 'v'))}}})
                .ok());
  }
  REQUIRE(store->cells().Flush().ok());
  const auto bytes = [&] { return (*store->cells().Regions("g"))[0].file_bytes; };
  const uint64_t plain = bytes();
  const auto absent = [&] {
    const uint64_t before = store->Stats().skipped_by_bloom;
    CHECK(store->cells().Get("g", "key17x")->empty());
    return store->Stats().skipped_by_bloom - before;
  };
  CHECK(absent() == 0);
  table.families[0].compression = "ZSTD";
  table.families[0].bloom_filter = BloomFilter::kRow;
  REQUIRE(store->cells().AlterTable(table).ok());
  CHECK(bytes() == plain);
  REQUIRE(store->cells().Compact().ok());
  CHECK(bytes() < plain / 4);
  CHECK(absent() == 1);
  for (int i = 0; i < 500; ++i) {
    CHECK(store->cells().Get("g", "key" + std::to_string(i))->cells.size() == 1);
  }
}

TEST_CASE("idle scans do not keep files that were merged away") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  auto store = Open(disk, clock);
  REQUIRE(store->cells().CreateTable(Described("f")).ok());
  for (const char* key : {"a", "b", "c"}) {
    REQUIRE(store->cells().Mutate("g", {{key, {PutCell("f", "q", key)}}}).ok());
    REQUIRE(store->cells().Flush().ok());
  }
  std::vector<std::unique_ptr<ScanCursor>> cursors;
  std::vector<Row> rows;
  for (int i = 0; i < 1000; ++i) {
    ScanSpec spec;
    spec.table = "g";
    spec.batch_rows = 1;
    spec.reversed = i % 2 == 1;
    cursors.push_back(*store->cells().Scan(spec));
    REQUIRE(cursors.back()->Next(&rows).ok());
  }
  const auto files = [&] {
    size_t count = 0;
    const std::vector<std::string> names = *disk.List("d");
    for (const std::string& name : names) count += name.ends_with(".cells") ? 1 : 0;
    return count;
  };
  REQUIRE(store->cells().Compact().ok());
  CHECK(files() > 3);
  clock.AdvanceMs(11 * 60'000);
  REQUIRE(store->cells().Flush().ok());
  CHECK(files() == 1);
  // The scans continue after their last rows.
  for (int i = 0; i < 1000; ++i) {
    std::string keys;
    do {
      REQUIRE(cursors[static_cast<size_t>(i)]->Next(&rows).ok());
      for (const Row& row : rows) keys += row.key;
    } while (!rows.empty());
    REQUIRE(keys == (i % 2 == 1 ? "ba" : "bc"));
  }
}

}  // namespace
}  // namespace hg
