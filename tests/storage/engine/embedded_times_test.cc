// Files outside of the requested times are not read (region-store.md Q8).

#include <doctest/doctest.h>

#include "storage/codec/row_key.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/open_embedded.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kDay = 86'400;
constexpr uint32_t kBase = 1'699'920'000;  // a midnight

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{(int64_t{kBase} + 100 * int64_t{kDay}) * 1000};
  std::unique_ptr<Embedded> store;

  Rig() {
    EmbeddedOptions options;
    options.cache_share = 0;
    store = OpenEmbedded(disk, clock, std::move(options));
  }
  // A file per day, with one point in its first hour.
  void WriteDays(uint32_t days) {
    const auto number = store->points().Register(Tsuid());
    REQUIRE(number.ok());
    for (uint32_t day = 0; day < days; ++day) {
      const PointEntry entry =
          MakePointEntry(*number, Timestamp{kBase + int64_t{day} * kDay}, PointValue::Int(day));
      REQUIRE(store->points().Append({&entry, 1}).ok());
      REQUIRE(store->cells().Flush().ok());
    }
  }
  std::vector<uint64_t> Values(RowRange rows) {
    PointScanSpec spec;
    spec.metric = Bytes("\0\0\1", 3);
    spec.rows = rows;
    auto scan = store->points().Scan(spec, {});
    REQUIRE(scan.ok());
    std::vector<uint64_t> values;
    for (RowHour row;;) {
      const auto more = (*scan)->Next(&row);
      REQUIRE(more.ok());
      if (!*more) return values;
      values.insert(values.end(), row.value.begin(), row.value.end());
    }
  }
  struct Cost {
    uint64_t read;
    uint64_t skipped;
    bool operator==(const Cost&) const = default;
  };
  Cost CostOf(const std::function<void()>& read) {
    const EmbeddedStats before = store->Stats();
    read();
    const EmbeddedStats after = store->Stats();
    return {after.blocks_read - before.blocks_read, after.skipped_by_time - before.skipped_by_time};
  }
};

TEST_CASE("a scan of points skips files of other hours") {
  Rig rig;
  rig.WriteDays(10);
  const uint32_t sixth = kBase + 6 * kDay;
  CHECK(rig.CostOf([&] {
    CHECK(rig.Values({sixth, sixth + 3600}) == std::vector<uint64_t>{6});
  }) == Rig::Cost{1, 9});
  CHECK(rig.CostOf([&] { CHECK(rig.Values({}).size() == 10); }) == Rig::Cost{10, 0});
  // The hour before the first one of a file, and the hour after its last one.
  for (const RowRange rows : {RowRange{sixth - 3600, sixth}, {sixth + 3600, sixth + 7200}}) {
    CHECK(rig.CostOf([&] { CHECK(rig.Values(rows).empty()); }) == Rig::Cost{0, 10});
  }
}

TEST_CASE("a row is searched only in files of its hour") {
  Rig rig;
  rig.WriteDays(10);
  const Bytes key = codec::MakeRowKey(KeyLayout(), Tsuid(), kBase + 3 * kDay);
  CHECK(rig.CostOf([&] { CHECK(rig.store->cells().Get("tsdb", key)->cells.size() == 1); }) ==
        Rig::Cost{1, 9});
  // An annotation of the row is in a cell file, whatever its own time is.
  REQUIRE(
      rig.store->cells().Mutate("tsdb", {{key, {PutCell("t", Bytes("\1\0\5", 3), "{}")}}}).ok());
  REQUIRE(rig.store->cells().Flush().ok());
  CHECK(rig.CostOf([&] { CHECK(rig.store->cells().Get("tsdb", key)->cells.size() == 2); }) ==
        Rig::Cost{2, 9});
}

TEST_CASE("a scan of cells skips files older than its times, and never newer ones") {
  Rig rig;
  REQUIRE(rig.store->cells().CreateTable({"g", {{"f"}}, false}).ok());
  const auto put = [&](const Bytes& key, int64_t time_ms) {
    CellChange change = PutCell("f", "q", "v" + std::to_string(time_ms));
    change.timestamp_ms = time_ms;
    REQUIRE(rig.store->cells().Mutate("g", {{key, {change}}}).ok());
  };
  for (const int64_t time_ms : {1000, 2000, 3000}) {
    put("a", time_ms);
    put("b" + std::to_string(time_ms), time_ms);
    REQUIRE(rig.store->cells().Flush().ok());
  }
  for (const bool reversed : {false, true}) {
    const auto keys = [&](int64_t min_ms, int64_t max_ms) {
      ScanSpec spec;
      spec.table = "g";
      spec.min_ms = min_ms;
      spec.max_ms = max_ms;
      spec.reversed = reversed;
      std::vector<Row> rows;
      REQUIRE((*rig.store->cells().Scan(spec))->Next(&rows).ok());
      std::string found;
      for (const Row& row : rows) found += row.key + " ";
      return found;
    };
    CHECK(rig.CostOf([&] { CHECK(keys(2500, 9000) == (reversed ? "b3000 a " : "a b3000 ")); })
              .skipped == (reversed ? 4 : 2));  // descending scans read the keys in pieces
    // The newer version of `a` is in a file outside of the range and hides the older one.
    CHECK(rig.CostOf([&] { CHECK(keys(1500, 2500) == "b2000 "); }).skipped == (reversed ? 2 : 1));
    CHECK(rig.CostOf([&] { CHECK(keys(std::numeric_limits<int64_t>::min(), 1500) == "b1000 "); })
              .skipped == 0);
  }
}

}  // namespace
}  // namespace hg
