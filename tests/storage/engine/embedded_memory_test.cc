// The memory that counts towards the memory limit, and the order in which writes are refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "storage/engine/embedded.h"
#include "storage/engine/engine.h"
#include "storage/engine/running_scans.h"
#include "storage/for_each_row.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kTime = 1700002800;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.memory_limit_bytes = 12 << 20;
  return options;
}

Status AppendPoint(Embedded& store, SeriesNumber series, int64_t time) {
  const PointEntry entry = MakePointEntry(series, Timestamp{time}, PointValue::Int(1));
  return store.points().Append({&entry, 1}).status();
}

TEST_CASE(
    "memory of names counts: new series are refused first, and points of known ones continue") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(), disk, clock);
  REQUIRE(store.ok());
  Status status;
  uint64_t used = 0;  // before the last series; a hash table may have grown with it
  for (uint64_t host = 0; status.ok() && host < 500'000; ++host) {
    const EmbeddedStats stats = (*store)->Stats();
    used = stats.memory_bytes + stats.registry_bytes;
    status = (*store)->points().Register(Tsuid(host)).status();
    if (status.ok()) REQUIRE(used <= stats.memory_limit_bytes / 10 * 9);
  }
  CHECK(status.code() == StatusCode::kExhausted);
  const EmbeddedStats stats = (*store)->Stats();
  CHECK(stats.refused_series == 1);
  CHECK(used > stats.memory_limit_bytes / 10 * 9);
  CHECK(stats.series > 1000);
  CHECK(AppendPoint(**store, 0, kTime).ok());
  CHECK((*store)->points().Register(Tsuid(0)).ok());
}

// A store with one registered series.
struct StoreOfOneSeries {
  StoreOfOneSeries() : store(Embedded::Open(Options(), disk, clock)) {
    REQUIRE(store.ok());
    series = *(*store)->points().Register(Tsuid(1));
  }

  FaultyFileSystem disk{1};
  ManualClock clock{kTime * 1000};
  Result<std::unique_ptr<Embedded>> store;
  SeriesNumber series = 0;
};

TEST_CASE("flushed memory counts until it is freed, which its last reader does not do") {
  StoreOfOneSeries f;
  auto& store = f.store;
  for (int64_t hour = 0; hour < 10'000; ++hour) {
    REQUIRE(AppendPoint(**store, f.series, hour * 3600).ok());
  }
  const uint64_t before = (*store)->Stats().memory_bytes;
  ScanSpec spec;
  spec.table = "tsdb";
  auto reader = (*store)->cells().Scan(spec);
  REQUIRE(reader.ok());
  REQUIRE((*store)->cells().Flush().ok());
  CHECK((*store)->Stats().memory_bytes >= before);
  // The reader may be an event loop, which must not free much memory.
  reader->reset();
  CHECK((*store)->Stats().memory_bytes >= before);
  REQUIRE((*store)->cells().Flush().ok());
  CHECK((*store)->Stats().memory_bytes < before / 2);
}

TEST_CASE("a scan that waits for its client keeps no flushed memory that writers need") {
  StoreOfOneSeries f;
  auto& store = f.store;
  ScanSpec spec;
  spec.table = "tsdb";
  spec.batch_rows = 1;
  std::vector<std::unique_ptr<ScanCursor>> readers;
  std::vector<Row> rows;
  int64_t hours = 0;
  for (int flush = 0; flush < 8; ++flush) {
    for (int i = 0; i < 10'000; ++i) {
      REQUIRE(AppendPoint(**store, f.series, hours++ * 3600).ok());
    }
    readers.push_back(*(*store)->cells().Scan(spec));
    REQUIRE(readers.back()->Next(&rows).ok());
    f.clock.AdvanceMs(2000);
    REQUIRE((*store)->cells().Flush().ok());
  }
  size_t read = 0;
  for (; !rows.empty(); ++read) REQUIRE(readers.back()->Next(&rows).ok());
  CHECK(read == static_cast<size_t>(hours));  // nothing is lost or given twice
}

TEST_CASE("running scans that keep flushed memory that writers need are ended, the oldest first") {
  StoreOfOneSeries f;
  auto& store = f.store;
  struct Reader {
    FakeWatch watch;
    std::unique_ptr<PointScan> scan;
  };
  std::vector<std::unique_ptr<Reader>> readers;
  PointScanSpec spec;
  spec.metric = Bytes("\0\0\1", 3);
  int64_t hours = 0;
  size_t ended = 0;
  for (int flush = 0; flush < 12; ++flush) {
    for (int i = 0; i < 4'000; ++i) {
      REQUIRE(AppendPoint(**store, f.series, hours++ * 3600).ok());
    }
    for (int i = 0; i < 2; ++i) {
      readers.push_back(std::make_unique<Reader>());
      spec.watch = &readers.back()->watch;
      readers.back()->scan = std::move(*(*store)->points().Scan(spec, {}));
    }
    REQUIRE((*store)->cells().Flush().ok());
    for (; ended < readers.size() && readers[ended]->watch.gave_up; ++ended) {
      readers[ended]->scan.reset();
    }
    for (size_t i = ended; i < readers.size(); ++i) CHECK_FALSE(readers[i]->watch.gave_up);
  }
  CHECK(ended >= 8);
  CHECK(ended % 2 == 0);  // all scans that hold a memtable end together
  CHECK(ended < readers.size());
}

TEST_CASE("a request that cannot end early does not keep requests of newer scans from ending") {
  engine::RunningScans scans;
  FakeWatch fixed, oldest, newer, newest;
  fixed.gives_up = false;
  const engine::RunningScans::Registration tool(scans, 1, nullptr);
  const engine::RunningScans::Registration first(scans, 1, &fixed);
  auto second = std::make_unique<engine::RunningScans::Registration>(scans, 2, &oldest);
  const engine::RunningScans::Registration third(scans, 3, &newer);
  const engine::RunningScans::Registration fourth(scans, 9, &newest);
  scans.EndOldest(9);
  scans.EndOldest(9);  // the request has not ended yet
  CHECK(oldest.gave_up);
  CHECK_FALSE(newer.gave_up);
  second.reset();
  scans.EndOldest(9);
  CHECK(newer.gave_up);
  CHECK_FALSE(newest.gave_up);
}

TEST_CASE("a reader does not close removed files, and their indexes count until they are closed") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto opened = Embedded::Open(Options(), disk, clock);
  REQUIRE(opened.ok());
  Embedded& store = **opened;
  REQUIRE(store.cells().CreateTable({"t", {{"f"}}, false}).ok());
  const auto bytes = [&] { return store.Stats().file_memory_bytes; };
  CHECK(bytes() == 0);
  uint64_t before = 0;
  for (int file = 0; file < 4; ++file) {
    for (int i = 0; i < 2000; ++i) {
      const Bytes key = "a key of file " + std::to_string(file) + ", row " + std::to_string(i);
      const RowMutation row{key, {PutCell("f", "q", Bytes(100, 'v'))}};
      REQUIRE(store.cells().Mutate("t", {row}).ok());
    }
    REQUIRE(store.cells().Flush().ok());
    // An index has an entry per block. The parts of the filter have ten bits per key and are not
    // kept in memory.
    CHECK(bytes() > before + 4 * sizeof(lsm::BlockEntry));
    CHECK(bytes() < before + 2000 * 10 / 8);
    before = bytes();
  }
  ScanSpec spec;
  spec.table = "t";
  auto reader = store.cells().Scan(spec);
  REQUIRE(reader.ok());
  std::vector<Row> rows;
  REQUIRE((*reader)->Next(&rows).ok());
  REQUIRE(store.cells().DropTable("t").ok());
  CHECK(bytes() == before);
  // The reader may be an event loop.
  reader->reset();
  CHECK(bytes() == before);
  REQUIRE(store.cells().Flush().ok());
  CHECK(bytes() == 0);
}

TEST_CASE("each copy of a row that a request names several times counts in its memory") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto opened = Embedded::Open(Options(), disk, clock);
  REQUIRE(opened.ok());
  Store& store = (*opened)->cells();
  REQUIRE(store.CreateTable({"t", {{"f"}}, false}).ok());
  REQUIRE(store.Mutate("t", {{"k", {PutCell("f", "q", Bytes(100'000, 'v'))}}}).ok());
  FakeWatch watch;
  watch.bytes_max = 1'000'000;
  CellSelection wanted;
  wanted.context = &watch;
  const auto rows = store.GetRows("t", std::vector<Bytes>(64, "k"), wanted);
  size_t good = 0;
  for (const Result<Row>& row : rows) {
    good += row.ok() ? 1 : 0;
    CHECK((row.ok() || row.status().code() == StatusCode::kLimitExceeded));
  }
  CHECK(good > 0);
  CHECK(good < 10);
  CHECK(watch.bytes == 0);
}

// The context of a request. After each kStepsPerWrite steps of the request, it writes a point of an
// old and a point of a new series. All new series together fit into memory.
class WriterBeside : public RequestContext {
 public:
  explicit WriterBeside(Embedded& store) : store_(store) {}

  Status Step(uint64_t more) override {
    steps_ += more;
    if (steps_ < kStepsPerWrite) return {};
    steps_ = 0;
    Bytes tsuid("\0\0\2\0\0\1", 6);
    AppendBig(&tsuid, ++written, 3);
    const auto series = store_.points().Register(tsuid);
    const bool taken = series.ok() && AppendPoint(store_, *series, kTime).ok() &&
                       AppendPoint(store_, 0, kTime + static_cast<int64_t>(written)).ok();
    refused += taken ? 0 : 1;
    most_bytes = std::max(most_bytes, store_.Stats().memory_bytes);
    return {};
  }
  Status Charge(int64_t) override { return {}; }

  uint64_t written = 0, refused = 0, most_bytes = 0;

 private:
  static constexpr uint64_t kStepsPerWrite = 20'000;
  Embedded& store_;
  uint64_t steps_ = 0;
};

// Rows whose tombstones need several times the available memory.
constexpr uint64_t kHosts = 300;
constexpr int64_t kHours = 400;
const Bytes kMetric("\0\0\1", 3);

std::unique_ptr<Embedded> StoreOfManyRows(FaultyFileSystem& disk, ManualClock& clock) {
  auto store = std::move(*Embedded::Open(Options(), disk, clock));
  std::vector<PointEntry> batch(kHosts);
  for (int64_t hour = 0; hour < kHours; ++hour) {
    for (uint64_t host = 0; host < kHosts; ++host) {
      const auto series = store->points().Register(Tsuid(host));
      REQUIRE(series.ok());
      batch[host] = MakePointEntry(*series, Timestamp{3600 + hour * 3600}, PointValue::Int(1));
    }
    REQUIRE(store->points().Append(batch).ok());
    const EmbeddedStats stats = store->Stats();
    if (stats.memory_bytes > stats.memory_limit_bytes / 4) REQUIRE(store->cells().Flush().ok());
  }
  REQUIRE(store->cells().Flush().ok());
  return store;
}

TEST_CASE("deletes leave memory for writers, however many rows they delete") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  const auto store = StoreOfManyRows(disk, clock);
  WriterBeside writer(*store);
  PointScanSpec spec;
  spec.metric = kMetric;
  spec.rows.end = 3600 + kHours * 3600;
  spec.watch = &writer;
  const Status deleted = store->points().DeleteRows(spec);
  CAPTURE(deleted.ToString());
  CHECK(deleted.ok());
  CHECK(writer.written > 100);
  CHECK(writer.refused == 0);
  CHECK(writer.most_bytes < store->Stats().memory_limit_bytes / 2);
  RowHour row;
  CHECK_FALSE(*(*store->points().Scan(spec, {}))->Next(&row));
}

// The context of a request. At its first step, it fills the memory with points and flushes them.
class FlushBeside : public FakeWatch {
 public:
  explicit FlushBeside(Embedded& store) : store_(store) {}

  Status Step(uint64_t more) override {
    if (flushes++ == 0) {
      for (int64_t hour = 2; AppendPoint(store_, 0, hour * 3600).ok(); ++hour) {
      }
      CHECK(store_.cells().Flush().ok());
    }
    return FakeWatch::Step(more);
  }

  int flushes = 0;

 private:
  Embedded& store_;
};

TEST_CASE("a delete does not end when it keeps flushed memory, also while it reads day indexes") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  const auto store = std::move(*Embedded::Open(Options(), disk, clock));
  for (uint64_t host = 0; host < 5000; ++host) {
    REQUIRE(AppendPoint(*store, *store->points().Register(Tsuid(host)), 3600).ok());
  }
  REQUIRE(store->cells().Flush().ok());
  FlushBeside beside(*store);
  PointScanSpec spec;
  spec.metric = kMetric;
  spec.rows.end = 7200;
  spec.watch = &beside;
  CHECK(store->points().DeleteRows(spec).ok());
  CHECK(beside.flushes > 0);
  CHECK_FALSE(beside.gave_up);
}

TEST_CASE("deletes of single rows during a scan are not refused") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  const auto store = StoreOfManyRows(disk, clock);
  ScanSpec spec;
  spec.table = "tsdb";
  spec.keys_only = true;
  uint64_t rows = 0;
  const Status deleted = ForEachRow(store->cells(), spec, [&](const Row& row) {
    ++rows;
    return store->cells().DeleteRow("tsdb", row.key);
  });
  CAPTURE(deleted.ToString());
  CHECK(deleted.ok());
  CHECK(rows == kHosts * kHours);
}

TEST_CASE(
    "memory of names outside the store counts: new names are refused before new series of "
    "known names") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  const auto names = std::make_shared<std::atomic<uint64_t>>(0);
  EmbeddedOptions options = Options();
  options.name_bytes = names;
  auto store = Embedded::Open(options, disk, clock);
  REQUIRE(store.ok());
  REQUIRE((*store)->points().Register(Tsuid(0)).ok());
  const EmbeddedStats before = (*store)->Stats();
  const uint64_t limit = before.memory_limit_bytes;
  CHECK((*store)->MayAddSeries(1000).ok());
  CHECK((*store)->MayAddSeries(limit).code() == StatusCode::kExhausted);
  *names = limit / 100 * 87 - before.memory_bytes - before.registry_bytes;
  const Status refused = (*store)->MayAddSeries(0);
  CHECK(refused.code() == StatusCode::kExhausted);
  CHECK(refused.message().find("raise tsd.memory.limit") != std::string::npos);
  // Names that were just created still get their series.
  CHECK((*store)->points().Register(Tsuid(1)).ok());
  CHECK((*store)->Stats().series_full);
  *names = limit;
  CHECK((*store)->points().Register(Tsuid(2)).status().code() == StatusCode::kExhausted);
  CHECK((*store)->points().Register(Tsuid(1)).ok());
  CHECK(AppendPoint(**store, 0, kTime).ok());
  const EmbeddedStats after = (*store)->Stats();
  CHECK(after.name_bytes == limit);
  CHECK(after.refused_series == 3);
  *names = 0;
  CHECK((*store)->points().Register(Tsuid(2)).ok());
  CHECK_FALSE((*store)->Stats().series_full);
}

RowMutation LongRow(const Bytes& name) {
  return {name + Bytes(30'000, 'k'), {PutCell("f", "q", "v")}};
}

TEST_CASE("while the memory for series is full, rows with long keys are refused like new series") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  const auto names = std::make_shared<std::atomic<uint64_t>>(0);
  EmbeddedOptions options = Options();
  options.name_bytes = names;
  auto opened = Embedded::Open(options, disk, clock);
  REQUIRE(opened.ok());
  Store& cells = (*opened)->cells();
  REQUIRE(cells.CreateTable({"t", {{"f"}}, false}).ok());
  REQUIRE((*opened)->points().Register(Tsuid(0)).ok());
  const Bytes old = LongRow("old").key;
  REQUIRE(cells.Mutate("t", {LongRow("old")}).ok());
  const EmbeddedStats before = (*opened)->Stats();
  const uint64_t limit = before.memory_limit_bytes;
  *names = limit / 100 * 92 - before.memory_bytes - before.registry_bytes;

  const RowMutation row = LongRow("new");
  const Status refused = cells.Mutate("t", {row});
  CHECK(refused.code() == StatusCode::kExhausted);
  CHECK(refused.message().starts_with("rows with long keys are refused: "));
  CHECK(refused.message().find("tsd.memory.limit") != std::string_view::npos);
  CHECK(cells.Increment("t", row.key, "f", "n", 1).status().code() == StatusCode::kExhausted);
  CHECK(cells.AppendColumns("t", row.key, {{"f", "q", "v"}}, {}).code() == StatusCode::kExhausted);
  CHECK(cells.CompareAndMutate("f", "q", {}, "t", row).status().code() == StatusCode::kExhausted);
  // The table of points has rows with such keys only over Thrift2.
  const RowMutation of_points{row.key, {PutCell("t", "q", "v")}};
  CHECK(cells.Mutate("tsdb", {of_points}).code() == StatusCode::kExhausted);
  const RowMutation qualifier{"short", {PutCell("f", Bytes(30'000, 'q'), "v")}};
  CHECK(cells.Mutate("t", {qualifier}).ok());
  CHECK_FALSE(*cells.CompareAndMutate("f", "q", "other", "t", LongRow("old")));
  CHECK((*opened)->Stats().refused_series == 0);

  CHECK(cells.Mutate("t", {{Bytes(400, 'k'), {PutCell("f", "q", "v")}}}).ok());
  CHECK(AppendPoint(**opened, 0, kTime).ok());
  Bytes row_of_points = Tsuid(0).substr(0, 3);
  AppendBig(&row_of_points, kTime, 4);
  row_of_points += Tsuid(0).substr(3);
  Bytes seconds;
  for (uint64_t second = 0; second < 500; ++second) AppendBig(&seconds, second << 4, 2);
  const Bytes values(501, '\0');
  CHECK(cells.Mutate("tsdb", {{row_of_points, {PutCell("t", seconds, values)}}}).ok());
  const RowMutation deletes{old, {DeleteColumn("f", "q")}};
  CHECK(*cells.CompareAndMutate("f", "q", "v", "t", deletes));
  CHECK(cells.DeleteRow("t", old).ok());
  *names = limit;
  CHECK(cells.DeleteRow("t", old).code() == StatusCode::kExhausted);
  CHECK(cells.DropTable("t").ok());
}

TEST_CASE("the indexes of rows with long keys do not outgrow the memory limit") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto opened = Embedded::Open(Options(), disk, clock);
  REQUIRE(opened.ok());
  Store& cells = (*opened)->cells();
  FamilyDescriptor family{"f"};
  family.block_size = 1024;
  REQUIRE(cells.CreateTable({"t", {family}, false}).ok());
  const uint64_t limit = (*opened)->Stats().memory_limit_bytes;
  const auto key_of = [](int i) { return Bytes(30'000, 'k') + std::to_string(100'000 + i); };
  Status status;
  int rows = 0;
  for (; status.ok() && rows < 2000; ++rows) {
    status = cells.Mutate("t", {{key_of(rows), {PutCell("f", "q", "v")}}});
    if (rows % 20 == 19) REQUIRE(cells.Flush().ok());
  }
  CAPTURE(rows);
  CHECK(status.code() == StatusCode::kExhausted);
  CHECK((*opened)->Stats().file_memory_bytes < limit);
  CHECK((*opened)->Stats().file_memory_bytes > limit / 2);
  // A merge frees the memory of deleted rows when their tombstones are a day old.
  int deleted = 0;
  while (deleted < rows && cells.DeleteRow("t", key_of(deleted)).ok()) ++deleted;
  CHECK(deleted > 10);
  clock.AdvanceMs(25 * 3'600'000);
  REQUIRE(cells.Flush().ok());
  REQUIRE(cells.Compact().ok());
  CHECK(cells.Mutate("t", {{key_of(rows), {PutCell("f", "q", "v")}}}).ok());
}

/// An engine without threads whose names take `names_percent` of the memory for unflushed data.
struct PressedEngine {
  PressedEngine(uint64_t limit_bytes, uint64_t names_percent) {
    EmbeddedOptions options = Options();
    options.memory_limit_bytes = limit_bytes;
    options.name_bytes = names;
    auto opened = engine::Engine::Open(options, disk, clock);
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    budget = engine->Stats().memory_limit_bytes;
    *names = budget / 100 * names_percent;
  }
  Status AddSeries() {
    RETURN_IF_ERROR(engine->MayAddSeries(0));
    ASSIGN_OR_RETURN(const SeriesNumber series, engine->Register(Tsuid(next++)));
    return Put(series, kTime);
  }
  Status Put(SeriesNumber series, int64_t time) {
    const PointEntry entry = MakePointEntry(series, Timestamp{time}, PointValue::Int(1));
    return engine->Append({&entry, 1}).status();
  }

  const std::shared_ptr<std::atomic<uint64_t>> names = std::make_shared<std::atomic<uint64_t>>(0);
  FaultyFileSystem disk{1};
  ManualClock clock{kTime * 1000};
  std::unique_ptr<engine::Engine> engine;
  uint64_t budget = 0;
  uint64_t next = 0;
};

TEST_CASE("a memtable with millions of entries in one row is flushed, although it is small") {
  PressedEngine f(uint64_t{1} << 30, 0);
  const SeriesNumber series = *f.engine->Register(Tsuid(1));
  constexpr int64_t kRowMs = 3'600'000, kBatch = 100'000;
  std::vector<PointEntry> batch;
  int64_t written = 0;
  do {
    batch.clear();
    for (int64_t i = 0; i < kBatch; ++i) {
      batch.push_back(
          MakePointEntry(series, Timestamp{kTime * 1000 + written++ % kRowMs}, PointValue::Int(1)));
    }
    REQUIRE(f.engine->Append(batch).ok());
    REQUIRE(f.engine->FlushIfNeeded().ok());
  } while (f.engine->Stats().flushes == 0);
  CHECK(written > kRowMs);  // points of each millisecond are not many
  CHECK(written < kRowMs * 3 / 2);
  CHECK(f.engine->Stats().memory_bytes < f.budget / 8);
}

TEST_CASE("above four fifths of the memory unflushed data is flushed before a series is refused") {
  for (const uint64_t limit_bytes : {uint64_t{30} << 20, uint64_t{64} << 20}) {
    CAPTURE(limit_bytes);
    PressedEngine f(limit_bytes, 65);
    const auto used = [&] {
      const EmbeddedStats stats = f.engine->Stats();
      return stats.memory_bytes + stats.registry_bytes + stats.name_bytes;
    };
    for (;;) {
      REQUIRE(f.AddSeries().ok());
      if (used() > f.budget / 100 * 80) break;
      REQUIRE(f.engine->FlushIfNeeded().ok());
      REQUIRE(f.engine->Stats().flushes == 0);
    }
    CHECK(f.engine->Stats().memory_bytes < f.budget / 4);
    REQUIRE(f.engine->FlushIfNeeded().ok());
    CHECK(f.engine->Stats().flushes == 1);
    CHECK(used() < f.budget / 100 * 80);
  }
}

TEST_CASE("a flush that a refused series needs is not postponed, and then the series is accepted") {
  PressedEngine f(uint64_t{160} << 20, 78);
  const size_t parts = EmbeddedOptions().merge.parts_blocking;
  REQUIRE(f.AddSeries().ok());
  for (size_t part = 0; part < parts; ++part) {
    REQUIRE(f.Put(0, kTime + 1 + static_cast<int64_t>(part)).ok());
    REQUIRE(f.engine->Flush().ok());
  }
  Status status;
  while (status.ok()) status = f.AddSeries();
  CHECK(status.code() == StatusCode::kExhausted);
  CHECK(status.message().find("until a flush") != std::string_view::npos);
  CHECK_FALSE(f.engine->Stats().series_full);
  CHECK(f.engine->Stats().series_refused_now);
  CHECK(f.Put(0, kTime).ok());
  const uint64_t before = f.engine->Stats().flushes;
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.engine->Stats().flushes == before + 1);
  CHECK_FALSE(f.engine->Stats().series_refused_now);
  CHECK(f.AddSeries().ok());
}

TEST_CASE("if no flush can make memory for a new series, none is started") {
  PressedEngine f(uint64_t{160} << 20, 20);
  for (int i = 0; i < 10'000; ++i) REQUIRE(f.AddSeries().ok());
  *f.names = f.budget / 100 * 84;
  const Status status = f.AddSeries();
  CHECK(status.code() == StatusCode::kExhausted);
  CHECK(status.message().find("raise tsd.memory.limit") != std::string_view::npos);
  CHECK(f.engine->Stats().series_full);
  const uint64_t unflushed = f.engine->Stats().memory_bytes;
  CHECK(unflushed < f.budget / 16);  // more would be flushed in any case
  CHECK(unflushed > f.budget / 64);
  REQUIRE(f.engine->FlushIfNeeded().ok());
  CHECK(f.engine->Stats().flushes == 0);
  CHECK(f.Put(0, kTime + 1).ok());
}

}  // namespace
}  // namespace hg
