// The work and memory of single calls of the Thrift2 protocol.

#include "storage/thrift2/service.h"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <utility>

#include "tests/support/model_store.h"

namespace hg::thrift2 {
namespace {

/// Records writes. Can stop the server after the first one.
class RecordingStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    Wrote(rows.size());
    changes += rows[0].changes.size();
    if (memory != nullptr) held = memory->held();
    return ModelStore::MutateRows(table, rows);
  }
  Status AppendColumns(const std::string& table, ByteView key,
                       const std::vector<ColumnAppend>& columns,
                       std::optional<int64_t> ttl_ms) override {
    Wrote(1);
    changes += columns.size();
    return ModelStore::AppendColumns(table, key, columns, ttl_ms);
  }

  Status AlterTable(const TableDescriptor& table, const TableDescriptor* before) override {
    if (before_alter) std::exchange(before_alter, nullptr)();
    return ModelStore::AlterTable(table, before);
  }

  Result<Row> GetCells(const std::string& table, ByteView key,
                       const CellSelection& wanted) override {
    if (row.empty()) return ModelStore::GetCells(table, key, wanted);
    return row;
  }
  Result<std::vector<RegionInfo>> Regions(const std::string& /*table*/,
                                          RequestContext* /*context*/) override {
    ++sizes;
    return std::vector<RegionInfo>(200);
  }
  Result<std::vector<Bytes>> RegionStarts(const std::string& /*table*/) override { return starts; }

  std::function<void()> before_alter;  // runs once, before the next AlterTable
  Row row;                             // if it is not empty, it is the only row that reads return
  std::atomic<bool>* stop = nullptr;
  std::vector<size_t> writes;  // number of rows of each call
  size_t changes = 0;  // number of changes to the first row of each MutateRows, or of appends
  std::vector<Bytes> starts = std::vector<Bytes>(200);
  size_t sizes = 0;  // how often the sizes of regions were read
  const MemoryShare* memory = nullptr;
  int64_t held = 0;  // value of `memory` at the last call of MutateRows

 private:
  void Wrote(size_t rows) {
    writes.push_back(rows);
    if (stop != nullptr) *stop = true;
  }
};

struct Fixture {
  explicit Fixture(Thrift2Options options = {})
      : state([this]() -> Store& { return store; }, std::move(options)), service(state, -1, 1) {
    REQUIRE(store.CreateTable({"g", {{"a"}, {"b"}}, false}).ok());
    REQUIRE(store.CreateTable({"points", {{"t"}}, true}).ok());
    service.BeginCall();
  }
  ~Fixture() {
    service.EndCall();
    CHECK(state.memory.held() == 0);
  }

  RecordingStore store;
  ServerState state;
  Service service;
};

/// Returns the message of the TIOError that the call throws, or "" if it throws none.
template <typename Run>
std::string ErrorOf(const Run& run) {
  try {
    run();
  } catch (const wire::TIOError& error) {
    return error.message;
  }
  return "";
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string Name(size_t number) { return std::to_string(100'000 + number); }

wire::TPut PutOf(const std::string& row, const std::string& family, size_t cells) {
  wire::TPut put;
  put.row = row;
  put.columnValues.resize(cells);
  for (size_t i = 0; i < cells; ++i) {
    put.columnValues[i].family = family;
    put.columnValues[i].qualifier = Name(i);
    put.columnValues[i].value = "v";
  }
  return put;
}

TEST_CASE("a family stays although another client adds a family at the same time") {
  Fixture f;
  f.store.before_alter = [&f] {
    TableDescriptor table = *f.store.DescribeTable("g");
    table.families.push_back({"first"});
    REQUIRE(f.store.ModelStore::AlterTable(table, nullptr).ok());
  };
  wire::TTableName table;
  table.qualifier = "g";
  wire::TColumnFamilyDescriptor family;
  family.name = "second";
  f.service.addColumnFamily(table, family);
  CHECK(f.store.DescribeTable("g")->families.size() == 4);
}

TEST_CASE("a truncated table keeps its split keys, except those that a new table may not have") {
  Fixture f;
  const Bytes longest(kSplitKeyBytesMax, 'b'), longer(kSplitKeyBytesMax + 1, 'c');
  f.store.starts = {"", "a", longest, longer};
  wire::TTableName table;
  table.qualifier = "g";
  f.service.disableTable(table);
  f.service.truncateTable(table, true);
  CHECK(f.store.DescribeTable("g")->splits == std::vector<Bytes>{"a", longest});
}

TEST_CASE("a text filter that Hourglass lacks is refused, and the error names it") {
  Fixture f;
  f.service.put("g", PutOf("k", "a", 1));
  const auto error = [&](const std::string& text) {
    wire::TGet get;
    get.row = "k";
    get.__set_filterString(text);
    wire::TScan scan;
    scan.__set_filterString(text);
    wire::TResult result;
    const std::string of_get = ErrorOf([&] { f.service.get(result, "g", get); });
    CHECK(ErrorOf([&] { f.service.openScanner("g", scan); }) == of_get);
    return of_get;
  };
  CHECK(Has(error("PageFilter(3)"), "'PageFilter' is not supported"));
  CHECK(Has(error("SKIP KeyOnlyFilter()"), "'SKIP' is not supported"));
  CHECK(Has(error(std::string(100'000, '(')), "the filter has 100000 bytes"));
}

TEST_CASE("more changes of a row than one call may make are refused") {
  Fixture f;
  constexpr size_t kMany = kRowChangesMax + 1;
  const std::string refused = std::to_string(kMany) + " changes of one row, at most 50000";
  const wire::TPut put = PutOf("k", "a", kMany);
  CHECK(Has(ErrorOf([&] { f.service.put("g", put); }), refused));
  CHECK(Has(ErrorOf([&] { f.service.putMultiple("g", {put}); }), refused));
  wire::TRowMutations mutations;
  mutations.row = "k";
  for (const size_t cells : {kMany - 1, size_t{1}}) {
    mutations.mutations.emplace_back().__set_put(PutOf("k", "a", cells));
  }
  CHECK(Has(ErrorOf([&] { f.service.mutateRow("g", mutations); }), refused));
  wire::TDelete gone;
  gone.row = "k";
  gone.columns.resize(kMany);
  std::vector<wire::TDelete> failed;
  CHECK(Has(ErrorOf([&] { f.service.deleteSingle("g", gone); }), refused));
  CHECK(Has(ErrorOf([&] { f.service.deleteMultiple(failed, "g", {gone}); }), refused));
  wire::TResult result;
  wire::TIncrement increment;
  increment.row = "k";
  increment.columns.resize(kMany);
  CHECK(Has(ErrorOf([&] { f.service.increment(result, "g", increment); }), refused));
  wire::TAppend append;
  append.row = "k";
  append.columns = put.columnValues;
  CHECK(Has(ErrorOf([&] { f.service.append(result, "g", append); }), refused));
  CHECK(f.store.writes.empty());
}

TEST_CASE("an append writes each column once, and ends with its call") {
  Fixture f;
  wire::TAppend append;
  append.row = "k";
  append.columns = PutOf("k", "a", 2).columnValues;
  append.columns.resize(10'000, append.columns[1]);
  wire::TResult result;
  f.service.append(result, "g", append);
  CHECK(f.store.writes.size() == 1);
  CHECK(f.store.changes == 2);
  REQUIRE(result.columnValues.size() == 2);
  CHECK(result.columnValues[0].value == "v");
  CHECK(result.columnValues[1].value == std::string(9999, 'v'));
  f.state.stopping = true;
  CHECK(Has(ErrorOf([&] { f.service.append(result, "g", append); }), "the server stops"));
  CHECK(f.store.writes.size() == 1);
}

TEST_CASE("many deletes with a time delete each cell of a row of points once") {
  Fixture f;
  f.service.put("points", PutOf("k", "t", 1000));
  wire::TDelete gone;
  gone.row = "k";
  gone.deleteType = wire::TDeleteType::DELETE_COLUMNS;
  SUBCASE("of the family") { gone.deleteType = wire::TDeleteType::DELETE_FAMILY; }
  SUBCASE("of columns") {}
  for (size_t i = 0; i < 20'000; ++i) {
    wire::TColumn& column = gone.columns.emplace_back();
    column.family = "t";
    column.__set_qualifier(Name(i % 1000));
    column.__set_timestamp(int64_t{1} << 60);
  }
  f.store.changes = 0;
  f.service.deleteSingle("points", gone);
  CHECK(f.store.changes == 1000);
  CHECK(f.store.Get("points", "k")->empty());
}

TEST_CASE("a delete with a time that covers too many cells of a row of points is refused") {
  Fixture f;
  for (size_t i = 0; i <= kRowChangesMax; ++i) f.store.row.cells.push_back({"t", Name(i), "v", 1});
  wire::TDelete gone;
  gone.row = "k";
  gone.deleteType = wire::TDeleteType::DELETE_FAMILY;
  gone.columns.emplace_back().family = "t";
  gone.columns[0].__set_timestamp(int64_t{1} << 60);
  CHECK(Has(ErrorOf([&] { f.service.deleteSingle("points", gone); }), "at most 50000"));
}

TEST_CASE("many rows are written in pieces, and the writes end with the call") {
  Fixture f;
  std::vector<wire::TPut> puts;
  std::vector<wire::TDelete> deletes(2500), failed;
  for (size_t i = 0; i < deletes.size(); ++i) {
    puts.push_back(PutOf(Name(i), "a", 1));
    deletes[i].row = Name(i);
  }
  f.service.putMultiple("g", puts);
  CHECK(f.store.writes == std::vector<size_t>{1000, 1000, 500});
  f.service.deleteMultiple(failed, "g", deletes);
  CHECK(f.store.writes == std::vector<size_t>{1000, 1000, 500, 1000, 1000, 500});
  CHECK(f.store.Get("g", Name(2499))->empty());
  f.store.writes.clear();

  // A row that the store refuses does not prevent the others. An invalid row prevents all.
  puts[0].columnValues[0].family = "c";
  CHECK(Has(ErrorOf([&] { f.service.putMultiple("g", puts); }), "NoSuchColumnFamily"));
  CHECK(f.store.Get("g", Name(2499))->cells.size() == 1);
  CHECK(f.store.writes.size() == 3);
  puts.back().row.clear();
  deletes.back().row.clear();
  CHECK_THROWS(f.service.putMultiple("g", puts));
  CHECK_THROWS(f.service.deleteMultiple(failed, "g", deletes));
  CHECK(f.store.writes.size() == 3);

  deletes.pop_back();
  f.store.stop = &f.state.stopping;
  CHECK(Has(ErrorOf([&] { f.service.deleteMultiple(failed, "g", deletes); }), "the server stops"));
  CHECK(f.store.writes.size() == 4);
}

TEST_CASE(
    "rows that the store must read are written one by one, and the writes end with the call") {
  Fixture f;
  std::vector<wire::TDelete> deletes(3), failed;
  for (wire::TDelete& gone : deletes) {
    gone.row = "k";
    gone.__isset.columns = true;
    gone.columns.emplace_back().family = "t";
    gone.columns[0].__set_qualifier(Bytes("\xF0\0\0\0\xF0\0\0\x40", 8));
    gone.__set_deleteType(wire::TDeleteType::DELETE_COLUMNS);
  }
  f.service.deleteMultiple(failed, "points", deletes);
  CHECK(f.store.writes == std::vector<size_t>{1, 1, 1});
  f.store.writes.clear();
  f.store.stop = &f.state.stopping;
  CHECK(Has(ErrorOf([&] { f.service.deleteMultiple(failed, "points", deletes); }), "server stops"));
  CHECK(f.store.writes == std::vector<size_t>{1});
}

TEST_CASE("rows with many changes are written in smaller pieces") {
  Fixture f;
  std::vector<wire::TPut> puts;
  for (size_t i = 0; i < 20; ++i) puts.push_back(PutOf(Name(i), "a", 3000));
  f.service.putMultiple("g", puts);
  CHECK(f.store.writes == std::vector<size_t>(5, 4));
}

TEST_CASE("each batch of cells of a row counts towards the limit of a response") {
  Thrift2Options options;
  options.response_bytes_max = 100'000;
  Fixture f(options);
  const std::string key(1000, 'k');
  f.service.put("g", PutOf(key, "a", 2000));
  wire::TScan scan;
  scan.__set_batchSize(1);
  std::vector<wire::TResult> results;
  const std::string error =
      ErrorOf([&] { f.service.getScannerResults(results, "g", scan, 1'000'000); });
  CHECK(Has(error, "the response exceeds 100000 bytes; fetch fewer rows"));
  CHECK(results.size() < 100);
}

TEST_CASE("a list of tables or regions above the limit of a response fails") {
  Thrift2Options options;
  options.response_bytes_max = 10'000;
  Fixture f(options);
  const auto is_refused = [&](const auto& call) {
    const std::string error = ErrorOf(call);
    f.service.EndCall();
    return Has(error, "the response exceeds 10000 bytes; name fewer tables");
  };
  std::vector<wire::TTableName> names(1000);
  for (wire::TTableName& name : names) name.qualifier = "g";
  std::vector<wire::TTableDescriptor> tables;
  CHECK(is_refused([&] { f.service.getTableDescriptors(tables, names); }));
  CHECK(tables.size() < 100);
  for (size_t i = 0; i < 200; ++i) {
    REQUIRE(f.store.CreateTable({"t" + Name(i), {{"a"}}, false}).ok());
  }
  std::vector<wire::TTableName> found;
  CHECK(is_refused([&] { f.service.getTableDescriptorsByPattern(tables, ".*", false); }));
  CHECK(is_refused([&] { f.service.getTableDescriptorsByNamespace(tables, "default"); }));
  CHECK(is_refused([&] { f.service.getTableNamesByPattern(found, ".*", false); }));
  CHECK(is_refused([&] { f.service.getTableNamesByNamespace(found, "default"); }));
  std::vector<wire::THRegionLocation> regions;
  CHECK(is_refused([&] { f.service.getAllRegionLocations(regions, "g"); }));
}

TEST_CASE("the location of a region is found without the sizes of regions") {
  Fixture f;
  wire::THRegionLocation location;
  f.store.starts = {"", "g", "m"};
  for (const auto& [row, start, stop] : std::vector<std::array<std::string, 3>>{
           {"", "", "g"}, {"f", "", "g"}, {"g", "g", "m"}, {"lz", "g", "m"}, {"z", "m", ""}}) {
    f.service.getRegionLocation(location, "g", row, false);
    CHECK(location.regionInfo.startKey == start);
    CHECK(location.regionInfo.endKey == stop);
  }
  std::vector<wire::THRegionLocation> all;
  f.service.getAllRegionLocations(all, "g");
  REQUIRE(all.size() == 3);
  CHECK(all[2].regionInfo.regionId == 3);
  CHECK(f.store.sizes == 0);
  f.store.starts.clear();  // like a missing table
  CHECK(ErrorOf([&] { f.service.getRegionLocation(location, "h", "k", false); }) == "h");
}

TEST_CASE("deletes with a time in a table of points are charged once") {
  Fixture f;
  f.store.memory = &f.state.memory;
  const auto held_while_written = [&](bool timed) {
    f.service.put("points", PutOf("k", "t", 2000));
    std::vector<wire::TDelete> deletes(1), failed;
    deletes[0].row = "k";
    deletes[0].deleteType = wire::TDeleteType::DELETE_COLUMNS;
    for (size_t i = 0; i < 2000; ++i) {
      wire::TColumn& column = deletes[0].columns.emplace_back();
      column.family = "t";
      column.__set_qualifier(Name(i));
      if (timed) column.__set_timestamp(int64_t{1} << 60);
    }
    f.service.deleteMultiple(failed, "points", deletes);
    CHECK(f.store.Get("points", "k")->empty());
    return f.store.held;
  };
  const int64_t untimed = held_while_written(false);
  CHECK(untimed > 0);
  CHECK(held_while_written(true) == untimed);
}

TEST_CASE("the error of a response that is too long names the limit exactly once") {
  Thrift2Options options;
  options.response_bytes_max = 10'000;
  Fixture f(options);
  f.service.put("g", PutOf("k", "a", 1000));
  wire::TGet get;
  get.row = "k";
  wire::TResult result;
  std::vector<wire::TResult> results;
  for (const std::string& error : {ErrorOf([&] { f.service.get(result, "g", get); }), ErrorOf([&] {
                                     f.service.getScannerResults(results, "g", {}, 10);
                                   })}) {
    const std::string limit = "the response exceeds 10000 bytes";
    CHECK(Has(error, limit));
    CHECK(error.find(limit) == error.rfind(limit));
  }
}

TEST_CASE("an append of several columns changes all of them or none") {
  Thrift2Options options;
  options.response_bytes_max = 10'000;
  Fixture f(options);
  wire::TAppend append;
  append.row = "k";
  append.columns = PutOf("k", "a", 3).columnValues;
  wire::TResult result;
  f.store.stop = &f.state.stopping;
  (void)ErrorOf([&] { f.service.append(result, "g", append); });
  CHECK(f.store.Get("g", "k")->cells.size() == 3);
  f.state.stopping = false;
  f.store.stop = nullptr;
  // A response cannot hold the columns.
  REQUIRE(f.store.Append("g", "k", "a", Name(2), std::string(20'000, 'v')).ok());
  CHECK(Has(ErrorOf([&] { f.service.append(result, "g", append); }), "the response exceeds"));
  CHECK(f.store.Get("g", "k", "a", {Name(0)})->cells[0].value == "v");
}

}  // namespace
}  // namespace hg::thrift2
