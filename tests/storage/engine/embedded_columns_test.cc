// Single columns of wide rows are read and changed without the rest of the row.

#include <doctest/doctest.h>
#include <time.h>

#include <random>

#include "storage/codec/row_key.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/open_embedded.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sanitizer.h"

namespace hg {
namespace {

const Bytes kSeries("\0\0\1\0\0\1\0\0\1", 9);
constexpr uint32_t kBase = 1'699'999'200;

struct Fixture {
  explicit Fixture(const EmbeddedOptions& options = {}) {
    embedded = OpenEmbedded(disk, clock, options);
    REQUIRE(cells().CreateTable({"tsdb", {{"t"}}, true}).ok());
    REQUIRE(cells().CreateTable({"tsdb-tree", {{"t"}}, false}).ok());
  }
  Store& cells() { return embedded->cells(); }

  /// Points of one hour, one per second.
  void PutPoints(uint32_t count) {
    std::vector<CellChange> changes;
    for (uint32_t second = 0; second < count; ++second) {
      Bytes qualifier;
      AppendBig(&qualifier, second << 4, 2);
      changes.push_back(PutCell("t", qualifier, Bytes(1, '\1')));
    }
    REQUIRE(cells().Mutate("tsdb", {{key, changes}}).ok());
  }

  FaultyFileSystem disk{1};
  ManualClock clock{1'700'000'000'000};
  std::unique_ptr<Embedded> embedded;
  const Bytes key = codec::MakeRowKey(KeyLayout(), kSeries, kBase);
};

// Bounds of CPU time are multiplied by this factor, because sanitizers make code slower.
constexpr int64_t kCpuFactor = kThreadSanitizer || kAddressSanitizer ? 10 : 1;

int64_t CpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Returns the qualifier of an annotation.
Bytes ObjectName(uint32_t number) {
  Bytes qualifier(1, '\1');
  AppendBig(&qualifier, number, 4);
  return qualifier;
}

TEST_CASE("Adding columns to a row costs the same, however many the row has") {
  Fixture f;
  const char* table = "tsdb-tree";
  Bytes row = "row";
  bool in_files = false;
  SUBCASE("of a generic table") {}
  SUBCASE("of a generic table, most of them in files") { in_files = true; }
  SUBCASE("of global annotations") {
    table = "tsdb";
    row = codec::MakeGlobalRowKey(KeyLayout(), kBase);
  }
  SUBCASE("of a series' hour") {
    table = "tsdb";
    row = f.key;
    f.PutPoints(3600);
  }
  const int64_t began = CpuMs();
  for (uint32_t i = 0; i < 20'000; ++i) {
    const Bytes name = ObjectName(i * 7919 % 20'011);
    REQUIRE(f.cells().Get(table, row, "t", {name})->empty());
    REQUIRE(*f.cells().CompareAndMutate("t", name, std::nullopt, table,
                                        {row, {PutCell("t", name, "value")}}));
    if (in_files && i % 5000 == 2500) REQUIRE(f.cells().Flush().ok());
  }
  CHECK(CpuMs() - began < kCpuFactor * (in_files ? 25'000 : 5000));
}

TEST_CASE(
    "The time to change or read many columns of a row grows only with the number of these "
    "columns") {
  Fixture f;
  const Bytes table = "tsdb-tree", row = "row";
  constexpr uint32_t kColumns = 50'000;
  std::vector<ColumnIncrement> increments;
  std::vector<CellChange> puts, deletes;
  std::vector<Bytes> names;
  for (uint32_t i = 0; i < kColumns; ++i) {
    names.push_back(ObjectName(i));
    increments.push_back({"t", names.back(), 2});
    puts.push_back(PutCell("t", names.back(), "value"));
    deletes.push_back({CellChange::Kind::kDeleteVersion, "t", names.back(), {}, {}, {}});
  }
  const int64_t began = CpuMs();
  SUBCASE("increments") {
    REQUIRE(f.cells().IncrementColumns(table, row, increments, {}).ok());
    const auto sums = f.cells().IncrementColumns(table, row, increments, {});
    REQUIRE(sums.ok());
    CHECK(*sums == std::vector<int64_t>(kColumns, 4));
  }
  SUBCASE("gets") {
    REQUIRE(f.cells().Mutate(table, {{row, puts}}).ok());
    CHECK(f.cells().Get(table, row, "t", names)->cells.size() == kColumns);
  }
  SUBCASE("deletes of newest versions") {
    REQUIRE(f.cells().Mutate(table, {{row, puts}}).ok());
    REQUIRE(f.cells().Mutate(table, {{row, deletes}}).ok());
    CHECK(f.cells().Get(table, row)->empty());
  }
  SUBCASE("deletes of newest versions, one by one") {
    REQUIRE(f.cells().Mutate(table, {{row, puts}}).ok());
    for (const CellChange& gone : deletes) REQUIRE(f.cells().Mutate(table, {{row, {gone}}}).ok());
    CHECK(f.cells().Get(table, row)->empty());
  }
  CHECK(CpuMs() - began < kCpuFactor * 2000);
}

/// Returns the qualifier of a compacted cell with `count` points, one per millisecond.
Bytes CompactedName(uint32_t first_ms, uint32_t count) {
  Bytes qualifier;
  for (uint32_t i = 0; i < count; ++i) AppendBig(&qualifier, 0xF0000000 | (first_ms + i) << 6, 4);
  return qualifier;
}

TEST_CASE("The time to delete compacted cells of a row grows only with the size of the request") {
  Fixture f;
  constexpr uint32_t kPoints = 36'000, kDeletes = 5000;
  std::vector<CellChange> points, changes;
  for (uint32_t i = 0; i < kPoints; ++i) {
    points.push_back(PutCell("t", CompactedName(i, 1), Bytes(1, '\1')));
  }
  size_t cells = 1;
  SUBCASE("that the row does not have") {
    for (uint32_t i = 0; i < kDeletes; ++i) {
      changes.push_back(DeleteColumn("t", CompactedName(i, 2)));
    }
  }
  SUBCASE("of which each follows another point") {
    for (uint32_t i = 0; i < kDeletes; ++i) {
      changes.push_back(PutCell("t", CompactedName(kPoints + i, 1), Bytes(1, '\1')));
      changes.push_back(DeleteColumn("t", CompactedName(i, 2)));
    }
  }
  SUBCASE("that clients put") {
    for (uint32_t i = 0; i < kDeletes; ++i) {
      points.push_back(PutCell("t", CompactedName(i, 2), Bytes("\1\1\0", 3)));
      changes.push_back(DeleteColumn("t", CompactedName(i, 2)));
    }
  }
  SUBCASE("after which the row has an annotation more") {
    for (uint32_t i = 0; i < kDeletes; ++i) {
      changes.push_back(PutCell("t", ObjectName(i), "{}"));
      changes.push_back(DeleteColumn("t", CompactedName(i, 2)));
    }
    cells += kDeletes;
  }
  f.clock.AdvanceMs(7'200'000);  // the row is old, so its points are shown as one cell
  REQUIRE(f.cells().Mutate("tsdb", {{f.key, points}}).ok());
  const int64_t began = CpuMs();
  REQUIRE(f.cells().Mutate("tsdb", {{f.key, changes}}).ok());
  CHECK(CpuMs() - began < kCpuFactor * 1000);
  CHECK(f.cells().Get("tsdb", f.key)->cells.size() == cells);
}

TEST_CASE("Changes that delete compacted cells have the same effect together and one by one") {
  EmbeddedOptions options;
  options.durability = Durability::kBuffered;
  Fixture f(options);
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    std::vector<CellChange> changes;
    for (uint32_t i = 0; i < 40; ++i) {
      const Bytes name = CompactedName(below(3), 1 + below(3));
      switch (below(12)) {
        case 0:
          changes.push_back({CellChange::Kind::kDeleteFamily, "t", {}, {}, {}, {}});
          break;
        case 1:
          changes.push_back(PutCell("t", ObjectName(below(3)), "{}"));
          break;
        case 2:
          changes.push_back(PutCell("t", name, Bytes(name.size() / 4, '\7') + Bytes(1, '\0')));
          break;
        case 3:
        case 4:
        case 5:
          changes.push_back(DeleteColumn("t", name));
          break;
        case 6:
          changes.push_back(DeleteColumn("t", CompactedName(below(3), 1)));
          break;
        default:
          changes.push_back(PutCell("t", CompactedName(below(3), 1), Bytes(1, '\1')));
          break;
      }
    }
    // The rows are old, so their points are shown as one cell.
    const auto cells_after = [&](size_t at_once) {
      const uint32_t base = kBase - (2 * seed + (at_once == 1 ? 1 : 0)) * 3600;
      const Bytes key = codec::MakeRowKey(KeyLayout(), kSeries, base);
      for (size_t at = 0; at < changes.size(); at += at_once) {
        const auto end = std::min(changes.size(), at + at_once);
        const std::vector<CellChange> some(changes.begin() + static_cast<ptrdiff_t>(at),
                                           changes.begin() + static_cast<ptrdiff_t>(end));
        REQUIRE(f.cells().Mutate("tsdb", {{key, some}}).ok());
      }
      std::vector<std::pair<Bytes, Bytes>> cells;
      const auto row = f.cells().Get("tsdb", key);
      for (const Cell& cell : row->cells) {
        cells.emplace_back(cell.qualifier, cell.value);
      }
      return cells;
    };
    CHECK(cells_after(40) == cells_after(1));
  }
}

TEST_CASE("The time to change many versions of a column grows only with the number of versions") {
  Fixture f;
  const Bytes table = "versions", row = "row";
  FamilyDescriptor family{"t"};
  family.versions = 1'000'000;
  SUBCASE("by HBase's default rule for deletes") {}
  SUBCASE("with NEW_VERSION_BEHAVIOR") { family.new_version_behavior = true; }
  REQUIRE(f.cells().CreateTable({table, {family}, false}).ok());
  constexpr int64_t kVersions = 50'000;
  std::vector<CellChange> puts, deletes, family_deletes;
  for (int64_t i = 0; i < kVersions; ++i) {
    // The times are unique, and neither ascending nor descending.
    const int64_t time_ms = 1 + i * 7919 % kVersions;
    puts.push_back(PutCell("t", "q", "value"));
    puts.back().timestamp_ms = time_ms;
    deletes.push_back({CellChange::Kind::kDeleteVersion, "t", "q", {}, {}, {}});
    deletes.back().timestamp_ms = time_ms;
    family_deletes.push_back({CellChange::Kind::kDeleteFamilyVersion, "t", {}, {}, {}, {}});
    family_deletes.back().timestamp_ms = kVersions + time_ms;
  }
  CellSelection all;
  all.max_versions = INT32_MAX;
  const auto seen = [&] { return f.cells().GetCells(table, row, all)->cells.size(); };
  const int64_t began = CpuMs();
  REQUIRE(f.cells().Mutate(table, {{row, puts}}).ok());
  CHECK(seen() == kVersions);
  REQUIRE(f.cells().Mutate(table, {{row, family_deletes}}).ok());
  CHECK(seen() == kVersions);
  REQUIRE(f.cells().Mutate(table, {{row, deletes}}).ok());
  CHECK(seen() == 0);
  REQUIRE(f.cells().Flush().ok());
  CHECK(seen() == 0);
  CHECK(CpuMs() - began < kCpuFactor * 2000);
}

TEST_CASE("A column of a wide row in a file is read without copying the row") {
  Fixture f;
  for (uint32_t i = 0; i < 3000; ++i) {
    REQUIRE(f.cells()
                .Mutate("tsdb-tree", {{"row", {PutCell("t", ObjectName(i), Bytes(100, 'v'))}}})
                .ok());
  }
  REQUIRE(f.cells().Flush().ok());
  FakeWatch watch;
  CellSelection wanted;
  wanted.family = "t";
  wanted.qualifiers = {ObjectName(5)};
  wanted.context = &watch;
  CHECK(f.cells().GetCells("tsdb-tree", "row", wanted)->cells.size() == 1);
  CHECK(watch.bytes_most <= 64 << 10);
  CHECK(watch.steps < 1000);
}

TEST_CASE("An object next to points is found, hidden, and found again after its row was deleted") {
  Fixture f;
  const auto get = [&](uint32_t number) {
    const Result<Row> row = f.cells().Get("tsdb", f.key, "t", {ObjectName(number)});
    REQUIRE(row.ok());
    return row->empty() ? Bytes() : row->cells[0].value;
  };
  const auto put = [&](uint32_t number, const Bytes& value) {
    REQUIRE(f.cells().Mutate("tsdb", {{f.key, {PutCell("t", ObjectName(number), value)}}}).ok());
  };
  const auto flush = [&](bool really) {
    if (really) REQUIRE(f.cells().Flush().ok());
  };
  for (const bool flushed : {false, true}) {
    CAPTURE(flushed);
    f.PutPoints(100);
    put(1, "one");
    put(2, "two");
    flush(flushed);
    CHECK(get(1) == "one");
    CHECK(get(3).empty());
    REQUIRE(f.cells().Mutate("tsdb", {{f.key, {DeleteColumn("t", ObjectName(2))}}}).ok());
    CHECK(get(2).empty());
    flush(flushed);
    CHECK(get(2).empty());
    CHECK(get(1) == "one");
    REQUIRE(f.cells().DeleteRow("tsdb", f.key).ok());
    CHECK(get(1).empty());
    CHECK(*f.cells().CompareAndMutate("t", ObjectName(1), std::nullopt, "tsdb",
                                      {f.key, {PutCell("t", ObjectName(1), "new")}}));
    CHECK(get(1) == "new");
    flush(flushed);
    CHECK(get(1) == "new");
    CHECK(f.cells().Get("tsdb", f.key)->cells.size() == 1);
    REQUIRE(f.cells().DeleteRow("tsdb", f.key).ok());
    flush(flushed);
    CHECK(get(1).empty());
  }
}

}  // namespace
}  // namespace hg
