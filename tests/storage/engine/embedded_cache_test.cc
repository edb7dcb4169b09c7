// The block cache below both interfaces of the embedded store.

#include <doctest/doctest.h>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kStart = 1700002800;
constexpr uint32_t kSeries = 60;

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{(kStart + 100'000) * 1000};
  EmbeddedOptions options;
  std::unique_ptr<Embedded> store;

  explicit Rig(double cache_share = 0.15) {
    options.path = "d";
    options.background = false;
    options.cache_share = cache_share;
    Open();
  }
  void Open() {
    store.reset();
    auto opened = Embedded::Open(options, disk, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    store = std::move(*opened);
  }
  // Twelve hours of some series in two files, merged to one file.
  void WriteMergedPoints() {
    for (int half = 0; half < 2; ++half) {
      for (uint32_t s = 0; s < kSeries; ++s) {
        const auto number = store->points().Register(Tsuid(s + 1));
        REQUIRE(number.ok());
        std::vector<PointEntry> batch;
        for (int64_t i = 0; i < 600; ++i) {
          batch.push_back(MakePointEntry(*number, Timestamp{kStart + half * 21600 + i * 36},
                                         PointValue::Int(s * 1000 + i)));
        }
        REQUIRE(store->points().Append(batch).ok());
      }
      REQUIRE(store->cells().Flush().ok());
    }
    REQUIRE(store->cells().Compact().ok());
  }
  // The sum of the values of a series, or of all series.
  double Sum(int series = -1) {
    PointScanSpec spec;
    spec.metric = Bytes("\0\0\1", 3);
    if (series >= 0) spec.matcher.tsuids = {Tsuid(static_cast<uint64_t>(series) + 1)};
    auto scan = store->points().Scan(spec, {});
    REQUIRE(scan.ok());
    double sum = 0;
    for (RowHour row;;) {
      auto more = (*scan)->Next(&row);
      REQUIRE(more.ok());
      if (!*more) return sum;
      for (size_t i = 0; i < row.value.size(); ++i) {
        sum += static_cast<double>(static_cast<int64_t>(row.value[i]));
      }
    }
  }
  uint64_t BlocksReadBy(const std::function<void()>& read) {
    const uint64_t before = store->Stats().blocks_read;
    read();
    return store->Stats().blocks_read - before;
  }
};

double SumOfSeries(int series) {
  double sum = 0;
  for (int i = 0; i < 600; ++i) sum += 2 * (series * 1000 + i);
  return sum;
}

TEST_CASE("blocks of merged rows are unpacked once, for several scans of their series") {
  for (const double share : {0.15, 0.0}) {
    CAPTURE(share);
    Rig rig(share);
    rig.WriteMergedPoints();
    const auto read_all = [&] {
      for (int series = 0; series < static_cast<int>(kSeries); ++series) {
        CHECK(rig.Sum(series) == SumOfSeries(series));
      }
    };
    const uint64_t whole = rig.BlocksReadBy([&] { (void)rig.Sum(); });
    REQUIRE(whole > 1);
    const uint64_t each = rig.BlocksReadBy(read_all);
    if (share > 0) {
      CHECK(each == 0);
      CHECK(rig.store->Stats().cache_hits >= kSeries);
      CHECK(rig.store->Stats().cache_bytes > 0);
    } else {
      CHECK(each >= kSeries);
      CHECK(rig.store->Stats().cache_bytes == 0);
    }
    rig.Open();
    CHECK(rig.BlocksReadBy(read_all) == (share > 0 ? whole : each));
  }
}

TEST_CASE("merges and checks put nothing into the cache") {
  Rig rig;
  rig.WriteMergedPoints();
  REQUIRE(rig.store->maintenance().Check()->damages.empty());
  CHECK(rig.store->Stats().cache_bytes == 0);
  (void)rig.Sum();
  CHECK(rig.store->Stats().cache_bytes > 0);
  // The blocks of removed files leave the cache.
  const Bytes late = Tsuid(4);
  const auto number = rig.store->points().Register(late);
  const PointEntry entry = MakePointEntry(*number, Timestamp{kStart}, PointValue::Int(3007));
  REQUIRE(rig.store->points().Append({&entry, 1}).ok());
  REQUIRE(rig.store->cells().Flush().ok());
  REQUIRE(rig.store->cells().Compact().ok());
  CHECK(rig.store->Stats().cache_bytes == 0);
  CHECK(rig.Sum(3) == SumOfSeries(3) + 7);
}

TEST_CASE("a scan continues after its files were merged away and their blocks left the cache") {
  Rig rig;
  rig.WriteMergedPoints();
  PointScanSpec spec;
  spec.metric = Bytes("\0\0\1", 3);
  auto scan = rig.store->points().Scan(spec, {});
  RowHour row;
  REQUIRE(*(*scan)->Next(&row));
  size_t points = row.value.size();
  REQUIRE(rig.store->cells().Compact().ok());
  while (*(*scan)->Next(&row)) points += row.value.size();
  CHECK(points == kSeries * 1200);
}

TEST_CASE("with BLOCKCACHE off each read goes to the disk") {
  for (const bool cached : {true, false}) {
    Rig rig;
    TableDescriptor table{"g", {{"f"}}, false};
    table.families[0].block_cache = cached;
    REQUIRE(rig.store->cells().CreateTable(table).ok());
    REQUIRE(rig.store->cells().Mutate("g", {{"k", {PutCell("f", "q", "v")}}}).ok());
    REQUIRE(rig.store->cells().Flush().ok());
    const uint64_t read = rig.BlocksReadBy([&] {
      for (int i = 0; i < 5; ++i) CHECK(rig.store->cells().Get("g", "k")->cells.size() == 1);
    });
    CHECK(read == (cached ? 1U : 5U));
  }
}

TEST_CASE("a reader of another family does not read the points files") {
  Rig rig;
  rig.WriteMergedPoints();
  TableDescriptor table = *rig.store->cells().DescribeTable("tsdb");
  table.families.push_back({"x"});
  REQUIRE(rig.store->cells().AlterTable(table).ok());
  ScanSpec spec;
  spec.table = "tsdb";
  std::vector<Row> rows;
  REQUIRE((*rig.store->cells().Scan(spec))->Next(&rows).ok());
  const Bytes key = rows.at(1).key;
  REQUIRE(rig.store->cells().Mutate("tsdb", {{key, {PutCell("x", "q", "v")}}}).ok());
  REQUIRE(rig.store->cells().Flush().ok());
  CellSelection other;
  other.family = "x";
  // Returns the number of blocks that a scan of all points still reads after a get of the other
  // family.
  const auto blocks_left = [&] {
    REQUIRE(rig.store->cells().GetCells("tsdb", key, other)->cells.size() == 1);
    return rig.BlocksReadBy([&] { (void)rig.Sum(); });
  };
  rig.Open();
  const uint64_t all = blocks_left();
  REQUIRE(all > 1);
  for (const char* family : {"x", "t", ""}) {
    const bool of_points = Bytes(family) != "x";
    for (const bool reversed : {false, true}) {
      CAPTURE(of_points);
      CAPTURE(reversed);
      rig.Open();
      spec.family = family;
      spec.reversed = reversed;
      size_t count = 0;
      const auto cursor = rig.store->cells().Scan(spec);
      do {
        REQUIRE((*cursor)->Next(&rows).ok());
        count += rows.size();
      } while (!rows.empty());
      CHECK((count == 1) == !of_points);
      CHECK((blocks_left() == all) == !of_points);
    }
  }
}

TEST_CASE("a scan with fill_cache off puts nothing into the cache") {
  Rig rig;
  REQUIRE(rig.store->cells().CreateTable({"g", {{"f"}}, false}).ok());
  for (int i = 0; i < 100; ++i) {
    REQUIRE(
        rig.store->cells().Mutate("g", {{"k" + std::to_string(i), {PutCell("f", "q", "v")}}}).ok());
  }
  REQUIRE(rig.store->cells().Flush().ok());
  for (const bool fill : {false, true}) {
    ScanSpec spec;
    spec.table = "g";
    spec.fill_cache = fill;
    const auto cursor = rig.store->cells().Scan(spec);
    size_t count = 0;
    for (std::vector<Row> rows;;) {
      REQUIRE((*cursor)->Next(&rows).ok());
      if (rows.empty()) break;
      count += rows.size();
    }
    CHECK(count == 100);
    CHECK((rig.store->Stats().cache_bytes > 0) == fill);
  }
}

TEST_CASE(
    "shares of memory and cache that exceed the limit are refused, with both shares in the error") {
  FaultyFileSystem disk(1);
  ManualClock clock(1'000'000);
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.memory_share = 0.5;
  options.cache_share = 0.4;
  const Status status = Embedded::Open(options, disk, clock).status();
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("0.5 and 0.4") != std::string_view::npos);
  options.memory_share = 0.4;
  CHECK(Embedded::Open(options, disk, clock).ok());
}

}  // namespace
}  // namespace hg
