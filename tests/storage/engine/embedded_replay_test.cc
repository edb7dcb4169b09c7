// Replay of the log at a start: several threads restore what one writer wrote.

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/points/points.h"
#include "storage/points/tsuid_list.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1'700'002'800;
constexpr uint32_t kSeries = 40'000;  // more than one shard holds

std::unique_ptr<Embedded> Open(FaultyFileSystem& disk) {
  static const ManualClock clock(int64_t{kBase} * 1000);
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.log_file_bytes = 1 << 20;
  auto opened = Embedded::Open(options, disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

// Returns every cell of a table.
std::vector<std::pair<Bytes, Cell>> CellsOf(Embedded& store, const std::string& table) {
  ScanSpec spec;
  spec.table = table;
  auto scan = store.cells().Scan(spec);
  REQUIRE(scan.ok());
  std::vector<std::pair<Bytes, Cell>> cells;
  for (std::vector<Row> rows;;) {
    REQUIRE((*scan)->Next(&rows).ok());
    if (rows.empty()) return cells;
    for (const Row& row : rows)
      for (const Cell& cell : row.cells) cells.emplace_back(row.key, cell);
  }
}

using Random = std::minstd_rand;

// Returns a batch like those of writers, of neighbouring or of random series. A series may occur
// several times, also with the same time.
std::vector<PointEntry> Batch(Random& random, const std::vector<SeriesNumber>& numbers) {
  std::vector<PointEntry> batch;
  const bool neighbours = random() % 2 == 0;
  size_t at = random() % kSeries;
  const int64_t time = kBase + random() % 3 * 3600 + random() % 20;
  for (int64_t i = random() % 1500; i > 0; --i) {
    at = neighbours ? (at + 1) % kSeries : random() % kSeries;
    batch.push_back(MakePointEntry(numbers[at], Timestamp{time + (neighbours ? 0 : i % 7)},
                                   PointValue::Int(static_cast<int64_t>(random() % 1000))));
  }
  return batch;
}

// Changes a row through the cell store. Replay must keep the order of these changes and of points.
Status ChangeRow(Random& random, Store& cells) {
  const uint32_t base = kBase + static_cast<uint32_t>(random() % 3 * 3600);
  const Bytes key = codec::MakeRowKey(KeyLayout(), Tsuid(random() % kSeries + 1), base);
  switch (random() % 5) {
    case 0:
      return cells.DeleteRow("tsdb", key);
    case 1:
      return cells.Mutate("tsdb", {{key, {DeleteColumn("t", Bytes("\0\0", 2))}}});
    case 2:  // a raw cell named like a point
      return cells.Mutate("tsdb", {{key, {PutCell("t", Bytes("\0\x20", 2), "odd")}}});
    case 3:  // a row whose key does not belong to a series
      return cells.Mutate("tsdb",
                          {{"odd" + std::to_string(random() % 9), {PutCell("t", "q", "v")}}});
    default:
      return cells.Increment("tsdb-uid", "n" + std::to_string(random() % 9), "id", "q", 1).status();
  }
}

TEST_CASE("points and rows of many series are the same after a restart") {
  Random random(77);
  FaultyFileSystem disk(1);
  auto store = Open(disk);
  TsuidList tsuids;
  for (uint32_t series = 0; series < kSeries; ++series) tsuids.Add(Tsuid(series + 1));
  std::vector<SeriesNumber> numbers(kSeries);
  REQUIRE(store->points().RegisterAll(tsuids.views(), numbers.data()).ok());
  for (int round = 0; round < 400; ++round) {
    const std::vector<PointEntry> batch = Batch(random, numbers);
    const auto position = store->points().Append(batch);
    REQUIRE(position.ok());
    store->points().Commit(*position, [](const Status& status) { CHECK(status.ok()); });
    for (size_t i = random() % 5; i > 0; --i) REQUIRE(ChangeRow(random, store->cells()).ok());
  }
  const auto points = CellsOf(*store, "tsdb");
  const auto names = CellsOf(*store, "tsdb-uid");
  CHECK(points.size() > 100'000);
  REQUIRE(store->Close().ok());
  store.reset();

  store = Open(disk);
  CHECK(store->Stats().replayed_records > kSeries);
  CHECK(store->Stats().series == kSeries);
  CHECK((CellsOf(*store, "tsdb") == points));
  CHECK((CellsOf(*store, "tsdb-uid") == names));
  std::vector<SeriesNumber> again(kSeries);
  REQUIRE(store->points().RegisterAll(tsuids.views(), again.data()).ok());
  CHECK(again == numbers);
}

}  // namespace
}  // namespace hg
