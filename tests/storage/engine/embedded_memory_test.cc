// What counts against the memory budget, and who is refused first.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "storage/engine/embedded.h"
#include "storage/for_each_row.h"
#include "tests/fault/faulty_file.h"
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

Bytes Tsuid(uint64_t host) {
  Bytes tsuid("\0\0\1\0\0\1", 6);
  AppendBig(&tsuid, host, 3);
  return tsuid;
}

Status AppendPoint(Embedded& store, SeriesNumber series, int64_t time) {
  const PointEntry entry = MakePointEntry(series, Timestamp{time}, PointValue::Int(1));
  return store.points().Append({&entry, 1}).status();
}

TEST_CASE("names count: new series are refused first, points of known ones go on") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(), disk, clock);
  REQUIRE(store.ok());
  Status status;
  uint64_t used = 0;  // before the last series; with it a table may have grown
  for (uint64_t host = 0; status.ok() && host < 500'000; ++host) {
    const EmbeddedStats stats = (*store)->Stats();
    used = stats.memory_bytes + stats.registry_bytes;
    status = (*store)->points().Register(Tsuid(host)).status();
    if (status.ok()) REQUIRE(used <= stats.memory_limit_bytes / 10 * 9);
  }
  CHECK(status.code() == StatusCode::kBusy);
  const EmbeddedStats stats = (*store)->Stats();
  CHECK(used > stats.memory_limit_bytes / 10 * 9);
  CHECK(stats.series > 1000);
  CHECK(AppendPoint(**store, 0, kTime).ok());
  CHECK((*store)->points().Register(Tsuid(0)).ok());
}

TEST_CASE("flushed memory counts until its last reader has gone") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(), disk, clock);
  REQUIRE(store.ok());
  const auto series = (*store)->points().Register(Tsuid(1));
  REQUIRE(series.ok());
  for (int64_t hour = 0; hour < 10'000; ++hour) {
    REQUIRE(AppendPoint(**store, *series, hour * 3600).ok());
  }
  const uint64_t before = (*store)->Stats().memory_bytes;
  ScanSpec spec;
  spec.table = "tsdb";
  auto reader = (*store)->cells().Scan(spec);
  REQUIRE(reader.ok());
  REQUIRE((*store)->cells().Flush().ok());
  CHECK((*store)->Stats().memory_bytes >= before);
  reader->reset();
  CHECK((*store)->Stats().memory_bytes < before / 2);
}

// Writes points of old and of new series whenever the work that it watches tells of itself.
class WriterBeside : public WorkWatch {
 public:
  explicit WriterBeside(Embedded& store) : store_(store) {}

  Status Step(uint64_t) override {
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
  Embedded& store_;
};

// Rows whose marks of deletion take several times the memory that there is.
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

TEST_CASE("deletes leave room for writers, however many rows go") {
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

TEST_CASE("rows that are deleted one by one behind a scan are not refused") {
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

}  // namespace
}  // namespace hg
