// Work on each region gives the same result as one reader of the whole table (region-store.md X2).

#include "storage/for_each_region.h"

#include <doctest/doctest.h>

#include <new>

#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/open_embedded.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{1'700'002'800'000};
  std::unique_ptr<Embedded> store;

  explicit Rig(int regions) {
    store = OpenEmbedded(disk, clock, {});
    TableDescriptor table{"g", {{"f"}}, false};
    for (int i = 1; i < regions; ++i) table.splits.push_back("row" + std::to_string(i));
    REQUIRE(store->cells().CreateTable(table).ok());
    for (int i = 0; i < 100; ++i) {
      RowMutation row{"row" + std::to_string(i * 37 % 101), {}};
      for (int q = 0; q <= i % 3; ++q) {
        row.changes.push_back(
            PutCell("f", std::to_string(q), Bytes(static_cast<size_t>(i % 7), 'v')));
      }
      REQUIRE(store->cells().Mutate("g", {row}).ok());
      if (i == 50) REQUIRE(store->cells().Flush().ok());
    }
    REQUIRE(store->cells().Regions("g")->size() == static_cast<size_t>(regions));
  }
  TableCount CountedByClient() {
    ScanSpec spec;
    spec.table = "g";
    spec.batch_rows = 1000;
    TableCount count;
    std::vector<Row> rows;
    REQUIRE((*store->cells().Scan(spec))->Next(&rows).ok());
    count.rows = rows.size();
    for (const Row& row : rows) {
      count.cells += row.cells.size();
      for (const Cell& cell : row.cells) count.value_bytes += cell.value.size();
    }
    return count;
  }
};

TEST_CASE("counting by region gives the same as counting by a client") {
  for (const int regions : {1, 2, 7}) {
    CAPTURE(regions);
    Rig rig(regions);
    const TableCount expected = rig.CountedByClient();
    CHECK(expected.rows == 100);
    const auto counted = CountTable(rig.store->cells(), "g", RequestContext::Unlimited());
    REQUIRE(counted.ok());
    CHECK(*counted == expected);
  }
}

TEST_CASE("counting ends when its request ends") {
  Rig rig(2);
  FakeWatch watch;
  watch.steps_max = 100;
  CHECK(CountTable(rig.store->cells(), "g", watch).status().code() ==
        StatusCode::kDeadlineExceeded);
}

TEST_CASE("results are merged in the order of the regions' keys") {
  Rig rig(7);
  const auto keys = ForEachRegion<std::string>(
      rig.store->cells(), "g", nullptr, {},
      [](const RegionInfo& region) { return Result<std::string>("[" + region.start); },
      [](std::string* all, const std::string& part) { *all += part; });
  REQUIRE(keys.ok());
  CHECK(*keys == "[[row1[row2[row3[row4[row5[row6");
}

TEST_CASE("the error of a failing region is returned") {
  Rig rig(7);
  const auto failed = ForEachRegion<int>(
      rig.store->cells(), "g", nullptr, 0,
      [](const RegionInfo& region) -> Result<int> {
        if (region.start == "row3") return Status::IoError("no row3");
        return 1;
      },
      [](int* all, int part) { *all += part; });
  CHECK(failed.status().message() == "no row3");
  CHECK(CountTable(rig.store->cells(), "none", RequestContext::Unlimited()).status().code() ==
        StatusCode::kNotFound);
}

TEST_CASE("an exception for one region becomes an error of the whole work") {
  Rig rig(7);
  const auto broken = ForEachRegion<int>(
      rig.store->cells(), "g", nullptr, 0,
      [](const RegionInfo&) -> Result<int> { throw std::bad_alloc(); },
      [](int* all, int part) { *all += part; });
  CHECK(broken.status().code() == StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hg
