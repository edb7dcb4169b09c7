// Rows with more cells than fit into the memory: annotations and histograms of the points table,
// and rows of other tables.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "storage/codec/row_key.h"
#include "storage/engine/embedded_points.h"
#include "storage/engine/embedded_store.h"
#include "storage/engine/engine.h"
#include "storage/points/points.h"
#include "tests/fault/starve.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1699920000;
constexpr size_t kNoteBytes = 64 << 10;
const Bytes kTsuid("\0\0\1\0\0\1\0\0\1", 9), kOtherTsuid("\0\0\1\0\0\1\0\0\2", 9);

// Returns the qualifier of an annotation at this offset from the base time.
Bytes NoteAt(int second) {
  Bytes qualifier(1, '\1');
  AppendBig(&qualifier, static_cast<uint64_t>(second), 2);
  return qualifier;
}

// Returns the qualifier of a compacted cell with a point at this offset and one a second later.
Bytes PointsAt(int second) {
  Bytes qualifier;
  AppendBig(&qualifier, static_cast<uint64_t>(second) << 4, 2);
  AppendBig(&qualifier, static_cast<uint64_t>(second + 1) << 4, 2);
  return qualifier;
}

// A store in a folder on disk, so that its files are not counted as memory of this thread.
struct Fixture {
  explicit Fixture(Durability durability = Durability::kLogged) : clock(int64_t{kBase} * 1000) {
    EmbeddedOptions options;
    options.durability = durability;
    options.path = folder.path();
    options.background = false;
    auto opened = engine::Engine::Open(options, PosixFileSystem(), clock);
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    points = std::make_unique<engine::EmbeddedPoints>(*engine);
    table = *engine->FindTable("tsdb");
    REQUIRE(points->Register(kTsuid).ok());
    REQUIRE(points->Register(kOtherTsuid).ok());
  }

  void Put(const Bytes& qualifier, const Bytes& value) {
    REQUIRE(engine->Write(*table, key, {PutCell("t", qualifier, value)}).ok());
  }
  // Writes `count` annotations. Their offsets are `first`, first + step and so on.
  void PutNotes(int first, int step, int count) {
    for (int i = 0; i < count; ++i) {
      const int second = first + i * step;
      Put(NoteAt(second), std::to_string(second) + Bytes(kNoteBytes, 'n'));
    }
  }
  void Flush() { REQUIRE(engine->Flush().ok()); }
  [[nodiscard]] size_t CountParts() const {
    const auto version = engine->Pin();
    return version->PartsOf(table->id, version->RegionsOf(table->id).IdOf(key)).size();
  }
  // Returns the cells that the cell store returns for the row.
  [[nodiscard]] std::map<Bytes, Bytes> Cells() const {
    const auto row = engine->rows().Read(*engine->Pin(), *table, key);
    REQUIRE(row.ok());
    std::map<Bytes, Bytes> cells;
    for (Cell& cell : engine::RenderStored(*table, *row, {})) {
      CHECK(cells.emplace(cell.qualifier, cell.value).second);
    }
    return cells;
  }
  // Scans a series with its annotations until an error or the end.
  Status Scan(const Bytes& tsuid, RequestContext* watch) const {
    PointScanSpec spec;
    spec.metric = tsuid.substr(0, 3);
    spec.matcher.tsuids = {tsuid};
    spec.rows = {kBase, kBase + 3600};
    spec.objects = true;
    spec.watch = watch;
    ASSIGN_OR_RETURN(const auto scan, points->Scan(spec, {}));
    for (;;) {
      RowHour row;
      ASSIGN_OR_RETURN(const bool more, scan->Next(&row));
      if (!more) return {};
    }
  }

  TempFolder folder;
  ManualClock clock;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::EmbeddedPoints> points;
  const engine::Table* table = nullptr;
  const Bytes key = codec::MakeRowKey(KeyLayout(), kTsuid, kBase);
};

TEST_CASE("a change that would read too many bytes of a row is refused before it reads them") {
  Fixture f;
  TableDescriptor descriptor{"g", {{"f"}}, false};
  descriptor.families[0].compression = "ZSTD";
  REQUIRE(f.engine->CreateTable(descriptor).ok());
  const engine::Table& g = **f.engine->FindTable("g");
  constexpr int kColumns = 28;
  const Bytes value(10 << 20, 'v');
  std::vector<Bytes> names;
  for (int i = 0; i < kColumns; ++i) {
    // Two versions of each column, in different files.
    names.push_back(std::to_string(i % (kColumns / 2)));
    REQUIRE(f.engine->Write(g, "k", {PutCell("f", names.back(), value)}).ok());
    f.clock.AdvanceMs(1);
    f.Flush();
  }
  names.push_back("small");
  REQUIRE(f.engine->Write(g, "k", {PutCell("f", "small", "v")}).ok());
  int decisions = 0;
  const auto change = [&](std::vector<Bytes> columns) {
    return f.engine
        ->ReadModifyWrite(g, "k", lsm::ColumnChoice(std::move(columns)),
                          [&](const engine::StoredRow&, std::vector<CellChange>* changes) {
                            ++decisions;
                            changes->push_back(PutCell("f", "small", "w"));
                            return Result<bool>(true);
                          })
        .status();
  };
  CHECK(change({"small"}).ok());
  CHECK(change({"1"}).ok());
  CHECK(decisions == 2);
  CHECK(change(names).code() == StatusCode::kLimitExceeded);
  CHECK(decisions == 2);
}

// Replaces the value of a column of the row "k" with "w". Returns the position of the change in the
// log, which may not be committed yet.
LogPosition Replace(Fixture& f, const engine::Table& table, const char* column) {
  const auto outcome =
      f.engine->ReadModifyWrite(table, "k", lsm::ColumnChoice({column}),
                                [&](const engine::StoredRow&, std::vector<CellChange>* changes) {
                                  changes->push_back(PutCell("f", column, "w"));
                                  return Result<bool>(true);
                                });
  REQUIRE(outcome.ok());
  return outcome->position;
}

TEST_CASE("a change of a large stored cell is committed when it ends, before the next one begins") {
  Fixture f(Durability::kSynced);
  REQUIRE(f.engine->CreateTable({"g", {{"f"}}, false}).ok());
  const engine::Table& g = **f.engine->FindTable("g");
  REQUIRE(f.engine->Write(g, "k", {PutCell("f", "q", Bytes(1 << 20, 'v'))}).ok());
  const LogPosition position = Replace(f, g, "q");
  auto committed = std::make_shared<std::atomic<bool>>(false);
  f.engine->Commit(position, [committed](const Status&) { *committed = true; });
  CHECK(*committed);
}

TEST_CASE(
    "a change of a small cell is not delayed by a large cell of its row that it does not read") {
  Fixture f(Durability::kSynced);
  REQUIRE(f.engine->CreateTable({"g", {{"f"}}, false}).ok());
  const engine::Table& g = **f.engine->FindTable("g");
  REQUIRE(f.engine->Write(g, "k", {PutCell("f", "a", Bytes(1 << 20, 'v')), PutCell("f", "n", "1")})
              .ok());
  f.Flush();
  // On a busy machine, the log may be synced before this thread continues.
  int waited = 0;
  for (int i = 0; i < 100 && waited == 0; ++i) {
    const LogPosition position = Replace(f, g, "n");
    auto committed = std::make_shared<std::promise<void>>();
    auto done = committed->get_future();
    f.engine->Commit(position, [committed](const Status&) { committed->set_value(); });
    waited +=
        static_cast<int>(done.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    done.wait();
  }
  CHECK(waited == 1);
}

TEST_CASE("a long row in a file is charged before it is decoded, and only where a scan may wait") {
  for (const bool repeats : {false, true}) {
    CAPTURE(repeats);
    Fixture f;
    const auto series = f.points->Register(kTsuid);
    REQUIRE(series.ok());
    constexpr int64_t kCount = 100'000;
    std::vector<PointEntry> entries;
    if (repeats) {  // two points at one time are settled, which needs a copy of the row
      entries.push_back(MakePointEntry(*series, Timestamp{int64_t{kBase} + 1}, PointValue::Int(7)));
    }
    for (int64_t i = 0; i < kCount; ++i) {
      entries.push_back(
          MakePointEntry(*series, Timestamp{(int64_t{kBase} + 1) * 1000 + i}, PointValue::Int(7)));
    }
    REQUIRE(f.points->Append(entries).ok());
    f.Flush();
    const auto next = [&](FakeWatch* watch) {
      PointScanSpec spec;
      spec.metric = Bytes("\0\0\1", 3);
      spec.watch = watch;
      const auto scan = f.points->Scan(spec, {});
      REQUIRE(scan.ok());
      RowHour row;
      const auto found = (*scan)->Next(&row);
      if (found.ok()) CHECK(row.value.size() == kCount);
      return found.status();
    };
    FakeWatch watch;
    CHECK(next(&watch).ok());
    const int64_t most = kCount * (repeats ? 96 : 16);
    CHECK(watch.bytes_most >= most);
    FakeWatch poor;
    poor.bytes_max = most / 2;
    CHECK(next(&poor).code() == StatusCode::kLimitExceeded);
    FakeWatch busy;
    busy.steps_max = kCount / 2;
    CHECK(next(&busy).code() == StatusCode::kDeadlineExceeded);
  }
}

TEST_CASE("a scan of named columns is charged for the rows that it returned last") {
  Fixture f;
  REQUIRE(f.engine->CreateTable({"g", {{"f"}}, false}).ok());
  engine::EmbeddedStore store(*f.engine);
  constexpr int64_t kValue = 1 << 20;
  constexpr int kRows = 3;
  for (int row = 0; row < kRows; ++row) {
    std::vector<CellChange> puts = {PutCell("f", "a", "v")};
    for (const char* const name : {"b", "c", "d"}) {
      puts.push_back(PutCell("f", name, Bytes(kValue, 'v')));
    }
    REQUIRE(store.Mutate("g", {{std::to_string(row), puts}}).ok());
  }
  SUBCASE("of files") { f.Flush(); }
  SUBCASE("of memory") {}
  FakeWatch request;
  ScanSpec spec;
  spec.table = "g";
  spec.family = "f";
  spec.qualifiers = {"a", "b", "c"};
  spec.batch_rows = 1;
  spec.context = &request;
  auto cursor = store.Scan(spec);
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  for (int row = 0; row < kRows; ++row) {
    REQUIRE((*cursor)->Next(&rows).ok());
    REQUIRE(rows.size() == 1);
    CHECK(request.bytes > 2 * kValue);
    CHECK(request.bytes < 8 * kValue);
  }
  request.bytes_max = 2 * kValue;
  cursor = store.Scan(spec);
  REQUIRE(cursor.ok());
  CHECK((*cursor)->Next(&rows).code() == StatusCode::kLimitExceeded);
}

TEST_CASE("a change of stored cells copies no value twice") {
  Fixture f;
  REQUIRE(f.engine->CreateTable({"g", {{"f"}}, false}).ok());
  engine::EmbeddedStore store(*f.engine);
  constexpr int64_t kValue = 4 << 20, kColumns = 8;
  std::vector<ColumnIncrement> increments;
  RowMutation deletes{"k", {}};
  for (int i = 0; i < kColumns; ++i) {
    const Bytes name(1, static_cast<char>('a' + i));
    REQUIRE(store.Mutate("g", {{"k", {PutCell("f", name, Bytes(kValue, 'v'))}}}).ok());
    increments.push_back({"f", name, 1});
    deletes.changes.push_back({CellChange::Kind::kDeleteVersion, "f", name, {}, {}, {}});
  }
  const int64_t limit = kValue * (kColumns + 1);
  CHECK(MostAllocated([&] {
          CHECK(store.IncrementColumns("g", "k", increments, {}).status().code() ==
                StatusCode::kInvalidArgument);
        }) < limit);
  CHECK(MostAllocated([&] {
          CHECK_FALSE(*store.CompareAndMutate("f", "a", Expected("w"), "g", deletes));
        }) < limit);
  CHECK(MostAllocated([&] { CHECK(store.Mutate("g", {deletes}).ok()); }) < limit);
  CHECK(store.Get("g", "k")->empty());
}

TEST_CASE("a merge has pieces of a large row in memory, not the whole row") {
  Fixture f;
  f.Put(PointsAt(0), Bytes("\1\2\0", 3));
  for (int file = 0; file < 3; ++file) {
    f.PutNotes(file, 3, 200);
    f.Flush();
  }
  f.Put(PointsAt(2), Bytes("\3\4\0", 3));
  f.Flush();
  REQUIRE(f.CountParts() == 4);
  Status merged;
  const int64_t bytes = MostAllocated([&] { merged = f.engine->Compact(*f.table); });
  REQUIRE(merged.ok());
  CHECK(f.CountParts() == 1);
  CHECK(bytes < int64_t{600} * kNoteBytes / 10);
  size_t notes = 0, others = 0;
  for (const auto& [qualifier, value] : f.Cells()) {
    (qualifier.front() == 1 ? notes : others) += 1;
    if (qualifier.front() == 1) {
      CHECK(value.starts_with(std::to_string(ReadBig16(qualifier.data() + 1)) + "n"));
    }
  }
  CHECK(notes == 600);
  CHECK(others > 0);
}

TEST_CASE("a query is charged for the cells of a row before it reads them") {
  Fixture f;
  for (const bool in_file : {false, true}) {
    CAPTURE(in_file);
    f.PutNotes(0, 1, 200);
    if (in_file) f.Flush();
    FakeWatch watch;
    watch.bytes_max = 1 << 20;
    Status status;
    const int64_t bytes = MostAllocated([&] { status = f.Scan(kTsuid, &watch); });
    CHECK(status.code() == StatusCode::kLimitExceeded);
    CHECK(bytes < 4 << 20);
    CHECK(f.Scan(kOtherTsuid, &watch).ok());
    CHECK(f.Scan(kTsuid, nullptr).ok());
  }
}

TEST_CASE("a query is charged for the points of compacted cells before it decodes them") {
  constexpr uint32_t kPoints = 200'000;
  for (const uint32_t cells : {1, 3}) {
    CAPTURE(cells);
    Fixture f;
    for (uint32_t cell = 0; cell < cells; ++cell) {
      Bytes qualifier;
      for (uint32_t i = 0; i < kPoints; ++i) AppendBig(&qualifier, 0xF0000000 | (i + cell) << 6, 4);
      f.Put(qualifier, Bytes(kPoints, '\5') + Bytes(1, '\0'));
    }
    FakeWatch watch;
    const int64_t bytes = MostAllocated([&] { CHECK(f.Scan(kTsuid, &watch).ok()); });
    CHECK(bytes < watch.bytes_most);
    FakeWatch poor;
    poor.bytes_max = bytes / 2;
    const int64_t refused =
        MostAllocated([&] { CHECK(f.Scan(kTsuid, &poor).code() == StatusCode::kLimitExceeded); });
    CHECK(refused < bytes / 2);
    FakeWatch busy;
    busy.steps_max = cells * kPoints / 2;
    CHECK(f.Scan(kTsuid, &busy).code() == StatusCode::kDeadlineExceeded);
  }
}

TEST_CASE("large rows have the same cells before and after merges, whatever was deleted") {
  constexpr uint32_t kColumns = 300, kChangesPerFile = 200;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Fixture f;
    for (int file = 0; file < 9; ++file) {
      for (uint32_t i = 0; i < kChangesPerFile; ++i) {
        const int second = static_cast<int>(random() % kColumns);
        const uint32_t what = random() % 100;
        if (what == 0 && random() % 4 == 0) {
          REQUIRE(
              f.engine
                  ->Write(*f.table, f.key, {{CellChange::Kind::kDeleteFamily, "t", {}, {}, {}, {}}})
                  .ok());
        } else if (what < 20) {
          REQUIRE(f.engine->Write(*f.table, f.key, {DeleteColumn("t", NoteAt(second))}).ok());
        } else if (what < 30) {
          f.Put(PointsAt(second), Bytes({static_cast<char>(file), static_cast<char>(i), '\0'}));
        } else {
          f.Put(NoteAt(second), std::to_string(file) + Bytes(random() % 8000, 'n'));
        }
      }
      f.Flush();
      if (random() % 3 > 0) continue;
      const std::map<Bytes, Bytes> before = f.Cells();
      REQUIRE((random() % 2 == 0 ? f.engine->MergePending(engine::Engine::MergePool::kAny)
                                 : f.engine->Compact(*f.table))
                  .ok());
      REQUIRE(f.Cells() == before);
    }
    const std::map<Bytes, Bytes> before = f.Cells();
    REQUIRE(f.engine->Compact(*f.table).ok());
    CHECK(f.CountParts() == 1);
    CHECK(f.Cells() == before);
  }
}

// Returns a table whose family "d" keeps deleted cells, if `keeps_deleted` is set.
TableDescriptor TimeTable(bool keeps_deleted) {
  FamilyDescriptor plain{"f"}, versions{"v"}, deleted{"d"};
  versions.versions = deleted.versions = 3;
  deleted.keep_deleted_cells = keeps_deleted;
  return {"time", {plain, versions, deleted}, false};
}

// Returns all cells of the row that the cell store returns, in the order of the store.
std::vector<Cell> CellsOfRow(const engine::Engine& engine, const engine::Table& table) {
  const auto row = engine.rows().Read(*engine.Pin(), table, "row");
  REQUIRE(row.ok());
  lsm::VersionRange range;
  range.max_versions = 10;
  return engine::RenderStored(table, *row, {}, range);
}

TEST_CASE("a merge has pieces of a large row in memory, whatever the table") {
  Fixture f;
  TableDescriptor keeps_deleted = TimeTable(true);
  keeps_deleted.name = "keeps_deleted";
  for (const TableDescriptor& descriptor :
       {TimeTable(false), keeps_deleted, TableDescriptor{"second_points", {{"f"}}, true}}) {
    REQUIRE(f.engine->CreateTable(descriptor).ok());
    const engine::Table& table = **f.engine->FindTable(descriptor.name);
    for (int file = 0; file < 3; ++file) {
      for (int i = file; i < 600; i += 3) {
        const CellChange put = PutCell("f", std::to_string(i), Bytes(kNoteBytes, 'n'));
        REQUIRE(f.engine->Write(table, "row", {put}).ok());
      }
      f.Flush();
    }
    Status merged;
    const int64_t bytes = MostAllocated([&] { merged = f.engine->Compact(table); });
    REQUIRE(merged.ok());
    CHECK(bytes < int64_t{600} * kNoteBytes / 10);
    CHECK(CellsOfRow(*f.engine, table).size() == 600);
  }
}

TEST_CASE("a merge drops old tombstones of a large row, also in a table that keeps deleted cells") {
  for (const bool keeps_deleted : {false, true}) {
    CAPTURE(keeps_deleted);
    Fixture f;
    REQUIRE(f.engine->CreateTable(TimeTable(keeps_deleted)).ok());
    const engine::Table& table = **f.engine->FindTable("time");
    std::vector<CellChange> deletes;
    for (int i = 0; i < 5000; ++i) deletes.push_back(DeleteColumn("f", std::to_string(i)));
    REQUIRE(f.engine->Write(table, "row", deletes).ok());
    f.Flush();
    f.clock.AdvanceMs(25 * 3'600'000);
    REQUIRE(f.engine->Write(table, "row", {PutCell("f", "5", "new")}).ok());
    f.Flush();
    REQUIRE(f.engine->Compact(table).ok());
    CHECK(f.engine->rows().Read(*f.engine->Pin(), table, "row")->cells.versions.size() == 1);
    CHECK(CellsOfRow(*f.engine, table).size() == 1);
  }
}

TEST_CASE("large rows ordered by time have the same cells before and after merges") {
  constexpr uint32_t kColumns = 60, kChangesPerFile = 200;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Fixture f;
    REQUIRE(f.engine->CreateTable(TimeTable(seed % 2 == 1)).ok());
    const engine::Table& table = **f.engine->FindTable("time");
    // The clock stands at kBase. Half of the seeds write cells with older times, so that merges
    // drop their tombstones.
    const int64_t base_ms = int64_t{kBase} * 1000 - (seed % 4 < 2 ? 0 : 2 * 86'400'000);
    for (int file = 0; file < 6; ++file) {
      for (uint32_t i = 0; i < kChangesPerFile; ++i) {
        CellChange change = PutCell({"fvd"[random() % 3]}, std::to_string(random() % kColumns), {});
        change.timestamp_ms = base_ms + random() % 20;
        const uint32_t what = random() % 200;
        if (what < 4) {
          change.qualifier.clear();
          change.kind =
              what < 2 ? CellChange::Kind::kDeleteFamily : CellChange::Kind::kDeleteFamilyVersion;
          if (what < 2) change.timestamp_ms = base_ms + random() % 8;
        } else if (what < 30) {
          change.kind =
              what < 12 ? CellChange::Kind::kDeleteColumn : CellChange::Kind::kDeleteVersion;
        } else {
          change.value = std::to_string(file) + Bytes(random() % 8000, 'n');
        }
        REQUIRE(f.engine->Write(table, "row", {change}).ok());
      }
      f.Flush();
      if (random() % 3 > 0) continue;
      const std::vector<Cell> before = CellsOfRow(*f.engine, table);
      REQUIRE((random() % 2 == 0 ? f.engine->MergePending(engine::Engine::MergePool::kAny)
                                 : f.engine->Compact(table))
                  .ok());
      REQUIRE(CellsOfRow(*f.engine, table) == before);
    }
    const std::vector<Cell> before = CellsOfRow(*f.engine, table);
    CHECK(before.size() > 50);
    REQUIRE(f.engine->Compact(table).ok());
    CHECK(CellsOfRow(*f.engine, table) == before);
  }
}

}  // namespace
}  // namespace hg
