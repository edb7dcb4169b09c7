// A gateway that is slow, dies, or passes on errors of region servers: errors are clear, and the
// store recovers by itself (hbase-backend.md §8 "Failure").

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/hbase/hbase_store.h"
#include "tests/storage/hbase/gateway_bed.h"

namespace hg::hbase {
namespace {

/// A client with short timeouts.
HbaseOptions Impatient(const Bed& bed) {
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.receive_timeout_ms = 30;
  options.deadline_ms = 1;
  return options;
}

/// Connects the impatient client. On a busy machine even a greeting may come too late.
std::unique_ptr<HbaseStore> ConnectImpatient(const Bed& bed) {
  for (;;) {
    auto store = HbaseStore::Connect(Impatient(bed));
    if (store.ok()) return std::move(*store);
    REQUIRE(store.status().code() == StatusCode::kUnavailable);
  }
}

/// Repeats the call until it succeeds. Before that it must be Unavailable.
void WaitOk(const std::function<Status()>& call) {
  Status status = call();
  while (status.code() == StatusCode::kUnavailable) status = call();
  INFO(status.ToString());
  CHECK(status.ok());
}

TEST_CASE("a call without a response in time fails, and later calls succeed") {
  Bed bed;
  auto store = ConnectImpatient(bed);
  WaitOk([&] { return store->Mutate("g", {PutRow("k", "1")}); });
  bed.Hold("get");
  const Status late = store->Get("g", "k").status();
  CHECK(late.code() == StatusCode::kUnavailable);
  CHECK(late.message().find("get of table g") != std::string_view::npos);
  bed.Release();
  WaitOk([&] { return store->Get("g", "k").status(); });
}

TEST_CASE("a put whose response is late may be stored, and can be repeated") {
  Bed bed;
  auto store = ConnectImpatient(bed);
  bed.Hold("put");
  CHECK(store->Mutate("g", {PutRow("k", "1")}).code() == StatusCode::kUnavailable);
  bed.Release();
  WaitOk([&] { return store->Mutate("g", {PutRow("l", "2")}); });
  WaitOk([&] { return store->Mutate("g", {PutRow("k", "1")}); });
  CHECK(ValueOf(bed.model, "k") == "1");
}

TEST_CASE("a scan whose fetch times out fails, and the next one does not") {
  Bed bed;
  REQUIRE(bed.model.Mutate("g", {PutRow("k", "1"), PutRow("l", "1")}).ok());
  auto store = ConnectImpatient(bed);
  ScanSpec all;
  all.table = "g";
  const auto count = [&](size_t* rows) -> Status {
    *rows = 0;
    ASSIGN_OR_RETURN(auto cursor, store->Scan(all));
    for (std::vector<Row> some;;) {
      RETURN_IF_ERROR(cursor->Next(&some));
      if (some.empty()) return {};
      *rows += some.size();
    }
  };
  size_t rows;
  bed.Hold("getScannerRows");
  const Status late = count(&rows);
  CHECK(late.code() == StatusCode::kUnavailable);
  CHECK(late.message().find("a scan of table g") != std::string_view::npos);
  bed.Release();
  WaitOk([&] { return count(&rows); });
  CHECK(rows == 2);
}

TEST_CASE("a scan continues after its last row when its gateway is killed and restarted") {
  for (const bool reversed : {false, true}) {
    Bed bed;
    std::vector<RowMutation> rows;
    for (int i = 100; i < 150; ++i) rows.push_back(PutRow(std::to_string(i), "v"));
    REQUIRE(bed.model.Mutate("g", rows).ok());
    auto store = bed.Connect();
    ScanSpec spec;
    spec.table = "g";
    spec.batch_rows = 7;
    spec.reversed = reversed;
    auto cursor = store->Scan(spec);
    REQUIRE(cursor.ok());
    std::vector<Bytes> keys;
    for (std::vector<Row> some;;) {
      REQUIRE((*cursor)->Next(&some).ok());
      if (some.empty()) break;
      for (const Row& row : some) keys.push_back(row.key);
      bed.StopGateway();
      bed.StartGateway();
    }
    REQUIRE(keys.size() == 50);
    CHECK(keys.front() == (reversed ? "149" : "100"));
    CHECK(keys.back() == (reversed ? "100" : "149"));
    CHECK(std::is_sorted(keys.begin(), keys.end()) == !reversed);
  }
}

/// Region servers fail the first calls that write, with the given status.
class FailingStore : public ModelStore {
 public:
  FailingStore(int calls, Status why) : left_(calls), why_(std::move(why)) {}
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (left_ > 0) {
      --left_;
      return std::vector<Status>(rows.size(), why_);
    }
    return ModelStore::MutateRows(table, rows);
  }

 private:
  int left_;
  const Status why_;
};

TEST_CASE("actions that fail temporarily are repeated with their whole batch") {
  for (const char* text : {"Failed 1 action: CallTimeoutException: 1 time, servers with issues: a",
                           "Failed 2 actions: RegionTooBusyException: 2 times",
                           "CallQueueTooBigException", "callTimeout=20000, callDuration=20001"}) {
    CAPTURE(text);
    FailingStore failing(3, Status::Unavailable(text));
    REQUIRE(failing.CreateTable(kTable).ok());
    FakeGateway gateway([&]() -> Store& { return failing; }, {});
    auto store = HbaseStore::Connect(Hasty(gateway.ClientOptions()));
    REQUIRE(store.ok());
    REQUIRE((*store)->Mutate("g", {PutRow("k", "1"), PutRow("l", "2")}).ok());
    CHECK(ValueOf(**store, "k") == "1");
    CHECK(ValueOf(**store, "l") == "2");
    for (const HbaseStats::Calls& calls : (*store)->Stats().calls) {
      if (calls.method == "putMultiple") CHECK(calls.repeats > 0);
    }
  }
}

TEST_CASE("actions that fail permanently fail at once, each row with its own reason") {
  Bed bed;
  auto store = bed.Connect();
  RowMutation bad{"l", {PutCell("nowhere", "q", "1")}};
  const auto statuses = store->MutateRows("g", {PutRow("k", "1"), bad, PutRow("m", "1")});
  REQUIRE(statuses.size() == 3);
  CHECK(statuses[0].ok());
  CHECK(statuses[1].code() == StatusCode::kNotFound);
  CHECK(statuses[1].message().find("NoSuchColumnFamily") != std::string_view::npos);
  CHECK(statuses[2].ok());
}

TEST_CASE("a missing table is named in the error, and written to once it exists") {
  Bed bed;
  auto store = bed.Connect();
  for (const auto& rows : {std::vector<RowMutation>{PutRow("k", "1")},
                           std::vector<RowMutation>{PutRow("k", "1"), PutRow("l", "1")}}) {
    REQUIRE(bed.model.DropTable("g").ok());
    const Status missing = store->Mutate("g", rows);
    CHECK(missing.code() == StatusCode::kNotFound);
    CHECK(missing.message().find("no such table: g") != std::string_view::npos);
    REQUIRE(bed.model.CreateTable(kTable).ok());
    CHECK(store->Mutate("g", rows).ok());
  }
}

TEST_CASE("a request longer than the gateway's frames fails, and later requests succeed") {
  GatewayOptions framed;
  framed.transport = Transport::kFramed;
  Bed bed(framed);
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.deadline_ms = 20;
  auto store = bed.Connect(options);
  const Status refused = store->Mutate("g", {PutRow("wide", Bytes(3 << 20, 'v'))});
  CHECK(refused.code() == StatusCode::kUnavailable);
  WaitOk([&] { return store->Mutate("g", {PutRow("k", "1")}); });
  CHECK(ValueOf(bed.model, "k") == "1");
  CHECK(ValueOf(bed.model, "wide").empty());
}

}  // namespace
}  // namespace hg::hbase
