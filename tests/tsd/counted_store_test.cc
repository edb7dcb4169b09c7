#include "tsd/counted_store.h"

#include <doctest/doctest.h>

#include <map>

#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg::tsd {
namespace {

std::map<std::string, int64_t> Shown(const CountedStore& store) {
  std::map<std::string, int64_t> shown;
  ShowStoreCalls(store.calls(), [&](const std::string& name, const std::string& tags,
                                    int64_t value) { shown[name + " " + tags] = value; });
  return shown;
}

TEST_CASE("calls of the cell store are counted by OpenTSDB's kinds") {
  ManualClock clock{1};
  ModelStore model(clock);
  CountedStore counted(model);
  Store& store = counted;
  REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
  for (const auto& [name, value] : Shown(counted)) CHECK_MESSAGE(value == 0, name);

  const RowMutation two{"a", {PutCell("t", "q", "1"), PutCell("t", "r", "2")}};
  const RowMutation swap{"a", {PutCell("t", "s", "3"), DeleteColumn("t", "r")}};
  REQUIRE(store.Mutate("tsdb", {two, swap}).ok());
  REQUIRE(store.Append("tsdb", "b", "t", "q", "1").ok());
  REQUIRE(*store.Increment("tsdb", "c", "t", "q", 5) == 5);
  CHECK(store.Get("tsdb", "a")->cells.size() == 2);
  CHECK(*store.CompareAndMutate("t", "q", Bytes("1"), "tsdb", {"a", {PutCell("t", "q", "4")}}));
  const std::vector<Cell> b = store.Get("tsdb", "b")->cells;
  CHECK(*store.MutateIfUnchanged("t", b, "tsdb", {"b", {DeleteColumn("t", "q")}}));
  REQUIRE(store.DeleteRow("tsdb", "c").ok());
  ScanSpec all;
  all.table = "tsdb";
  auto cursor = store.Scan(all);
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  do REQUIRE((*cursor)->Next(&rows).ok());
  while (!rows.empty());

  std::map<std::string, int64_t> shown = Shown(counted);
  CHECK(shown.at("hbase.rpcs type=put") == 4);
  CHECK(shown.at("hbase.rpcs.batched ") == 2);
  CHECK(shown.at("hbase.rpcs type=delete") == 3);
  CHECK(shown.at("hbase.rpcs type=append") == 1);
  CHECK(shown.at("hbase.rpcs type=increment") == 1);
  CHECK(shown.at("hbase.rpcs type=get") == 2);
  CHECK(shown.at("hbase.rpcs type=openScanner") == 1);
  CHECK(shown.at("hbase.rpcs type=scan") == 2);
  CHECK(shown.at("hbase.rpcs type=rowLock") == 0);
}

}  // namespace
}  // namespace hg::tsd
