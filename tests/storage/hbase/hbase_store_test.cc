// The client with a gateway that fails, for each transport and protocol.

#include "storage/hbase/hbase_store.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/storage/hbase/gateway_bed.h"

namespace hg::hbase {
namespace {

std::string Text(Store& store, const Bytes& key) {
  auto row = store.Get("g", key);
  if (!row.ok()) return row.status().ToString();
  std::string text;
  for (const Cell& cell : row->cells) {
    text += cell.family + ":" + cell.qualifier + "=" + cell.value + " ";
  }
  return text;
}

void FillRows(Store& store, int count) {
  std::vector<RowMutation> rows;
  for (int i = 0; i < count; ++i) {
    Bytes key;
    AppendBig(&key, static_cast<uint64_t>(i), 2);
    rows.push_back({key, {PutCell("a", "q", std::to_string(i))}});
  }
  REQUIRE(store.Mutate("g", rows).ok());
}

std::vector<Bytes> Keys(Store& store, const ScanSpec& spec,
                        const std::function<void()>& between = nullptr) {
  std::vector<Bytes> keys;
  auto cursor = store.Scan(spec);
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  do {
    const Status next = (*cursor)->Next(&rows);
    INFO(next.ToString());
    REQUIRE(next.ok());
    for (const Row& row : rows) keys.push_back(row.key);
    if (between) between();
  } while (!rows.empty());
  return keys;
}

ScanSpec All(size_t batch_rows = 7) {
  ScanSpec spec;
  spec.table = "g";
  spec.batch_rows = batch_rows;
  return spec;
}

TEST_CASE("every transport and protocol carries every kind of call") {
  for (const auto& [transport, compact] :
       std::vector<std::pair<Transport, bool>>{{Transport::kBuffered, false},
                                               {Transport::kBuffered, true},
                                               {Transport::kFramed, false},
                                               {Transport::kFramed, true},
                                               {Transport::kHttp, false}}) {
    CAPTURE(static_cast<int>(transport));
    CAPTURE(compact);
    GatewayOptions options;
    options.transport = transport;
    options.compact = compact;
    Bed bed(options);
    auto store = bed.Connect();
    FillRows(*store, 300);
    CHECK(Keys(*store, All()).size() == 300);
    CHECK(*store->Increment("g", "k", "a", "n", 5) == 5);
    REQUIRE(store->Append("g", "k", "a", "q", Bytes("x\0\xFF", 3)).ok());
    CHECK(store->Get("g", "k", "a", {"q"})->cells[0].value == Bytes("x\0\xFF", 3));
    REQUIRE(store->CreateTable({"new", {{"f"}}, false}).ok());
    CHECK(store->DropTable("new").ok());
  }
}

TEST_CASE("a table with several regions cannot be created through a framed gateway") {
  GatewayOptions options;
  options.transport = Transport::kFramed;
  Bed bed(options);
  TableDescriptor table{"new", {{"f"}}, false};
  table.splits = {"m"};
  CHECK(bed.Connect()->CreateTable(table).code() == StatusCode::kUnsupported);
}

TEST_CASE("through a gateway a table keeps its split policy until the policy is altered") {
  Bed bed;
  auto store = bed.Connect();
  TableDescriptor table{"new", {{"f"}}, false};
  table.split_policy = {TableSplitPolicy::Kind::kKeyPrefix, 4, ""};
  REQUIRE(store->CreateTable(table).ok());
  CHECK(store->DescribeTable("new")->split_policy == table.split_policy);
  TableDescriptor other = table;
  other.split_policy.prefix_length = 5;
  CHECK(store->CreateTable(other).code() == StatusCode::kConflict);
  CHECK(store->CreateTable({"new", {{"f"}}, false}).ok());  // any policy
  for (const TableSplitPolicy& policy :
       {TableSplitPolicy{TableSplitPolicy::Kind::kDelimitedKeyPrefix, 0, "_"},
        TableSplitPolicy{}}) {
    table.split_policy = policy;
    REQUIRE(store->AlterTable(table).ok());
    CHECK(store->DescribeTable("new")->split_policy == policy);
  }
}

TEST_CASE("batches of writes fit into a frame") {
  GatewayOptions options;
  options.transport = Transport::kFramed;
  Bed bed(options);
  auto store = bed.Connect();
  std::vector<RowMutation> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back({"k" + std::to_string(i), {PutCell("a", "q", Bytes(700'000, 'v'))}});
  }
  REQUIRE(store->Mutate("g", rows).ok());
  CHECK(Keys(*store, All()).size() == 10);
  const std::lock_guard lock(bed.mutex);
  CHECK(bed.calls["putMultiple"] == 2 * 5);
}

TEST_CASE("a row that is deleted after the comparison is not restored by its rewrite") {
  Bed bed;
  auto store = bed.Connect();
  REQUIRE(store->Mutate("g", {{"k", {PutCell("a", "p", "1"), PutCell("a", "q", "2")}}}).ok());
  const auto row = store->Get("g", "k", "a");
  REQUIRE(row.ok());
  {
    const std::lock_guard lock(bed.mutex);
    bed.hook = [&](const std::string& called, Stage at) {
      const bool guarded = called == "checkAndMutate" && at == Stage::kBefore;
      if (guarded) CHECK(bed.model.DeleteRow("g", "k").ok());
      return Fate::kGoOn;
    };
  }
  const RowMutation rewrite{
      "k", {PutCell("a", "pq", "12"), DeleteColumn("a", "p"), DeleteColumn("a", "q")}};
  const auto done = store->MutateIfUnchanged("a", row->cells, "g", rewrite);
  REQUIRE(done.ok());
  CHECK_FALSE(*done);
  CHECK(Text(*store, "k").empty());
}

TEST_CASE("a column that is put after the comparison is not deleted with its family") {
  Bed bed;
  auto store = bed.Connect();
  REQUIRE(store->Mutate("g", {{"k", {PutCell("a", "p", "1")}}}).ok());
  const auto row = store->Get("g", "k", "a");
  REQUIRE(row.ok());
  {
    const std::lock_guard lock(bed.mutex);
    bed.hook = [&](const std::string& called, Stage at) {
      CellChange put = PutCell("a", "q", "2");
      put.timestamp_ms = row->cells[0].timestamp_ms + 1;
      const bool guarded = called == "checkAndMutate" && at == Stage::kBefore;
      if (guarded) CHECK(bed.model.Mutate("g", {{"k", {std::move(put)}}}).ok());
      return Fate::kGoOn;
    };
  }
  const auto done = store->MutateIfUnchanged(
      "a", row->cells, "g", {"k", {{CellChange::Kind::kDeleteFamily, "a", {}, {}, {}, {}}}});
  REQUIRE(done.ok());
  CHECK(*done);
  CHECK(Text(*store, "k") == "a:q=2 ");
}

TEST_CASE("a put or get whose connection is lost is repeated") {
  for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
    Bed bed;
    auto store = bed.Connect();
    bed.Drop("put", stage);
    REQUIRE(store->Mutate("g", {{"k", {PutCell("a", "q", "v")}}}).ok());
    bed.Drop("get", stage);
    CHECK(Text(*store, "k") == "a:q=v ");
    bed.Drop("mutateRow", stage);
    REQUIRE(store->Mutate("g", {{"k", {DeleteColumn("a", "q")}}}).ok());
    CHECK(Text(*store, "k").empty());
  }
}

TEST_CASE("a delete of the newest version whose connection is lost is sent once and reported") {
  Bed bed;
  auto store = bed.Connect();
  const CellChange newest{CellChange::Kind::kDeleteVersion, "a", "q", {}, {}, {}};
  bed.Drop("mutateRow", Stage::kAfter);
  const Status gone = store->Mutate("g", {{"k", {newest}}});
  CHECK(gone.code() == StatusCode::kUnavailable);
  CHECK(gone.message().find("not known") != std::string_view::npos);
  CellChange dated = newest;
  dated.timestamp_ms = 5;
  bed.Drop("mutateRow", Stage::kAfter);
  CHECK(store->Mutate("g", {{"k", {dated}}}).ok());
}

/// All regions are busy.
class BusyStore : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& /*table*/,
                                 const std::vector<RowMutation>& rows) override {
    return std::vector<Status>(rows.size(), Status::Busy("RegionTooBusyException"));
  }
};

TEST_CASE("a batch that HBase is too busy for is not repeated row by row") {
  BusyStore busy;
  REQUIRE(busy.CreateTable(kTable).ok());
  std::atomic<int> puts = 0;
  GatewayOptions options;
  options.hook = [&](const std::string& method, Stage) {
    if (method == "put") ++puts;
    return Fate::kGoOn;
  };
  FakeGateway gateway([&]() -> Store& { return busy; }, options);
  HbaseOptions hasty = Hasty(gateway.ClientOptions());
  hasty.deadline_ms = 20;
  auto store = HbaseStore::Connect(hasty);
  REQUIRE(store.ok());
  const std::vector<Status> statuses =
      (*store)->MutateRows("g", {{"k", {PutCell("a", "q", "v")}}, {"l", {PutCell("a", "q", "v")}}});
  REQUIRE(statuses.size() == 2);
  for (const Status& status : statuses) CHECK(status.code() == StatusCode::kBusy);
  CHECK(puts == 0);
}

TEST_CASE("an increment or append whose connection is lost is sent once and reported") {
  for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
    Bed bed;
    auto store = bed.Connect();
    bed.Drop("increment", stage);
    const Status counted = store->Increment("g", "k", "a", "n", 5).status();
    CHECK(counted.code() == StatusCode::kUnavailable);
    CHECK(counted.message().find("not known") != std::string_view::npos);
    CHECK(*store->Increment("g", "k", "a", "n", 0) == (stage == Stage::kAfter ? 5 : 0));
    bed.Drop("append", stage);
    CHECK(store->Append("g", "k", "a", "q", "v").code() == StatusCode::kUnavailable);
    CHECK(store->Get("g", "k", "a", {"q"})->cells.size() == (stage == Stage::kAfter ? 1 : 0));
  }
}

TEST_CASE("a successful comparison whose connection was lost counts as successful") {
  for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
    Bed bed;
    auto store = bed.Connect();
    const RowMutation mine{"k", {PutCell("a", "q", "mine")}};
    bed.Drop("checkAndMutate", stage);
    CHECK(*store->CompareAndMutate("a", "q", std::nullopt, "g", mine));
    CHECK(Text(*store, "k") == "a:q=mine ");
    // The column exists now, so this comparison fails.
    const RowMutation late{"k", {PutCell("a", "q", "late")}};
    bed.Drop("checkAndMutate", stage);
    CHECK_FALSE(*store->CompareAndMutate("a", "q", std::nullopt, "g", late));
    CHECK(Text(*store, "k") == "a:q=mine ");
  }
}

TEST_CASE("a delete of a family whose connection was lost succeeded if its cells are gone") {
  for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
    Bed bed;
    auto store = bed.Connect();
    REQUIRE(store->Mutate("g", {{"k", {PutCell("a", "q", "1"), PutCell("b", "r", "2")}}}).ok());
    CellChange dated{CellChange::Kind::kDeleteFamily, "a", {}, {}, {}, {}};
    dated.timestamp_ms = store->Get("g", "k", "a")->cells[0].timestamp_ms;
    CellChange later = PutCell("a", "later", "3");
    later.timestamp_ms = *dated.timestamp_ms + 1;
    REQUIRE(store->Mutate("g", {{"k", {later}}}).ok());
    bed.Drop("checkAndMutate", stage);
    CHECK_FALSE(*store->CompareAndMutate("a", "q", "other", "g", {"k", {dated}}));
    CHECK(Text(*store, "k") == "a:later=3 a:q=1 b:r=2 ");
    bed.Drop("checkAndMutate", stage);
    CHECK(*store->CompareAndMutate("a", "q", "1", "g", {"k", {dated}}));
    CHECK(Text(*store, "k") == "a:later=3 b:r=2 ");
  }
}

TEST_CASE("a scan continues after its last row when connection or scanner are lost") {
  for (const bool reversed : {false, true}) {
    Bed bed;
    auto store = bed.Connect();
    FillRows(*store, 50);
    ScanSpec spec = All();
    spec.reversed = reversed;
    const std::vector<Bytes> expected = Keys(*store, spec);
    REQUIRE(expected.size() == 50);
    CHECK(Keys(*store, spec, [&] { bed.gateway->ForgetScanners(); }) == expected);
    for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
      bed.Drop("getScannerRows", stage, 3);
      CHECK(Keys(*store, spec) == expected);
    }
    bed.Drop("openScanner", Stage::kAfter);
    CHECK(Keys(*store, spec) == expected);
  }
}

TEST_CASE("a scan that continues right before its stop key does not return the row of this key") {
  Bed bed;
  auto store = bed.Connect();
  const Bytes stop("k\0", 2);
  REQUIRE(
      store->Mutate("g", {{"k", {PutCell("a", "q", "v")}}, {stop, {PutCell("a", "q", "v")}}}).ok());
  ScanSpec spec = All();
  spec.stop = stop;
  CHECK(Keys(*store, spec, [&] { bed.gateway->ForgetScanners(); }) == std::vector<Bytes>{"k"});
}

TEST_CASE("a scan fetches fewer rows at once if they are wide") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.fetch_rows = 10;
  options.fetch_bytes = 20'000;
  auto store = bed.Connect(options);
  for (int i = 0; i < 30; ++i) {
    const Bytes value(i < 10 ? 1 : 9000, 'v');
    REQUIRE(store->Mutate("g", {{"k" + std::to_string(100 + i), {PutCell("a", "q", value)}}}).ok());
  }
  const auto fetches = [&](const ScanSpec& spec) {
    const auto count = [&] {
      const std::lock_guard lock(bed.mutex);
      return bed.calls["getScannerRows"] / 2;
    };
    const int before = count();
    CHECK(Keys(*store, spec).size() == 30);
    return count() - before;
  };
  // Ten narrow rows, ten wide ones, then two at a time, and the end.
  CHECK(fetches(All(128)) == 2 + 5 + 1);
  ScanSpec single = All(128);
  single.batch_bytes = 1;
  CHECK(fetches(single) == 1 + 20 + 1);
}

TEST_CASE("a scan that ends or is abandoned is closed at the gateway") {
  Bed bed;
  auto store = bed.Connect();
  FillRows(*store, 50);
  Keys(*store, All());
  CHECK(bed.gateway->scanner_count() == 0);
  {
    auto cursor = store->Scan(All());
    REQUIRE(cursor.ok());
    CHECK(bed.gateway->scanner_count() == 1);
  }
  CHECK(bed.gateway->scanner_count() == 0);
}

TEST_CASE("rows whose total exceeds a response are fetched in smaller groups") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.message_bytes_max = 1 << 20;
  auto store = bed.Connect(options);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(
        store->Mutate("g", {{"k" + std::to_string(i), {PutCell("a", "q", Bytes(200'000, 'v'))}}})
            .ok());
  }
  CHECK(Keys(*store, All(128)).size() == 20);
  REQUIRE(store->Mutate("g", {{"wide", {PutCell("a", "q", Bytes(2 << 20, 'v'))}}}).ok());
  auto cursor = store->Scan(All(128));
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  Status next;
  do {
    next = (*cursor)->Next(&rows);
  } while (next.ok() && !rows.empty());
  CHECK(next.code() == StatusCode::kLimitExceeded);
}

TEST_CASE("if one of several gateways is unreachable, the others are used") {
  Bed bed;
  FakeGateway other([&]() -> Store& { return bed.model; }, {});
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.gateways.push_back({"127.0.0.1", other.port()});
  auto store = bed.Connect(options);
  FillRows(*store, 50);
  bool stopped = false;
  const auto stop_one = [&] {
    if (!stopped) bed.gateway->Stop();
    stopped = true;
  };
  CHECK(Keys(*store, All(), stop_one).size() == 50);
  for (int i = 0; i < 10; ++i) CHECK(Text(*store, Bytes("\0\1", 2)) == "a:q=1 ");
}

TEST_CASE("a gateway that comes back is used again") {
  Bed bed;
  auto store = bed.Connect();
  FillRows(*store, 1);
  GatewayOptions again;
  again.port = bed.gateway->port();
  bed.gateway->Stop();
  FakeGateway back([&]() -> Store& { return bed.model; }, again);
  CHECK(Text(*store, Bytes("\0\0", 2)) == "a:q=0 ");
}

TEST_CASE("if no gateway responds, a call ends with its deadline") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.deadline_ms = 20;
  auto store = bed.Connect(options);
  bed.gateway->Stop();
  CHECK(store->Get("g", "k").status().code() == StatusCode::kUnavailable);
  CHECK(store->Scan(All()).status().code() == StatusCode::kUnavailable);
  CHECK(HbaseStore::Connect(options).status().code() == StatusCode::kUnavailable);
}

TEST_CASE("a gateway with another protocol is distinguished from an unreachable one") {
  GatewayOptions framed;
  framed.transport = Transport::kFramed;
  Bed bed(framed);
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.transport = Transport::kBuffered;
  options.greeting_timeout_ms = 200;
  options.deadline_ms = 1;
  const Status refused = HbaseStore::Connect(options).status();
  CHECK(refused.code() == StatusCode::kUnavailable);
  INFO(refused.ToString());
  CHECK(refused.message().find("framing") != std::string_view::npos);
}

TEST_CASE("invalid options are refused") {
  const auto code = [](auto change) {
    HbaseOptions options;
    change(options);
    return HbaseStore::Connect(options).status().code();
  };
  CHECK(code([](auto& o) { o.gateways.clear(); }) == StatusCode::kInvalidArgument);
  CHECK(code([](auto& o) { o.connections = 17; }) == StatusCode::kInvalidArgument);
  CHECK(code([](auto& o) {
          o.compact = true;
          o.transport = Transport::kHttp;
        }) == StatusCode::kInvalidArgument);
}

TEST_CASE("a table is created with its regions, and a points table with its salt buckets") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.layout.salt_width = 1;
  options.layout.salt_buckets = 4;
  auto store = bed.Connect(options);
  TableDescriptor table{"points", {{"t"}}, true};
  table.splits = {"m", Bytes(1, '\2')};
  REQUIRE(store->CreateTable(table).ok());
  table.splits.clear();
  auto there = store->DescribeTable("points");
  REQUIRE(there.ok());
  CHECK(there->points);
  CHECK(store->CreateTable(table).ok());
  CHECK(bed.model.DescribeTable("points")->splits ==
        std::vector<Bytes>{Bytes(1, '\1'), Bytes(1, '\2'), Bytes(1, '\3'), "m"});
}

TEST_CASE("tables are created and dropped even if connections are lost meanwhile") {
  for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
    Bed bed;
    auto store = bed.Connect();
    bed.Drop("createTable", stage);
    CHECK(store->CreateTable({"new", {{"f"}}, false}).ok());
    bed.Drop("disableTable", stage);
    CHECK(store->DropTable("new").ok());
    CHECK(store->CreateTable({"new", {{"f"}}, false}).ok());
    bed.Drop("deleteTable", stage);
    CHECK(store->DropTable("new").ok());
    CHECK(store->DropTable("new").code() == StatusCode::kNotFound);
  }
}

TEST_CASE("a table is emptied and enabled again, even if connections are lost meanwhile") {
  for (const Stage stage : {Stage::kBefore, Stage::kAfter}) {
    for (const char* lost : {"", "disableTable", "truncateTable"}) {
      CAPTURE(lost);
      Bed bed;
      auto store = bed.Connect();
      FillRows(*store, 10);
      bed.Drop(lost, stage);
      const Status emptied = store->TruncateTable("g");
      INFO(emptied.ToString());
      CHECK(emptied.ok());
      CHECK(Keys(*store, All()).empty());
      CHECK(store->DescribeTable("g")->families == kTable.families);
      FillRows(*store, 10);
      CHECK(store->TruncateTable("none").code() == StatusCode::kNotFound);
    }
  }
}

TEST_CASE("threads share the connections") {
  Bed bed;
  HbaseOptions options = bed.gateway->ClientOptions();
  options.connections = 2;
  auto store = bed.Connect(options);
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        if (!store->Increment("g", "k", "a", "n", 1).ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(*store->Increment("g", "k", "a", "n", 0) == 600);
}

}  // namespace
}  // namespace hg::hbase
