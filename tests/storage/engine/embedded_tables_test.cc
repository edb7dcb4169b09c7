// Tables of the embedded store: descriptors on the disk, and what their attributes do to files.

#include <doctest/doctest.h>

#include "storage/engine/embedded.h"
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

// Every call to the disk fails in turn, then the power is cut: what was asked for last is whole or
// absent, what was answered holds.
TEST_CASE("a kill between any two steps leaves a table whole or absent") {
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

TEST_CASE("tables keep what they were altered to over starts, and rows of dropped ones stay gone") {
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
  store = Open(disk, clock);  // its row is in the log still
  CHECK(*store->cells().DescribeTable("tsdb-uid") == uid);
  CHECK(store->cells().DescribeTable("g").status().code() == StatusCode::kNotFound);
  CHECK(store->cells().DropTable("tsdb").code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a change of compression and filter shows in files as they are rewritten") {
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

TEST_CASE("scans that nobody moves do not keep files that were merged away") {
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
  // They go on where they stood.
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
