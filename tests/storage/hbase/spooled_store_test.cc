// The store with a spool: which writes are acknowledged while HBase is unreachable, and which are
// stored afterwards.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage/hbase/hbase_store.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/hbase/gateway_bed.h"

namespace hg::hbase {
namespace {

/// A gateway that can be stopped and started, and stores with a spool for table "g" on one disk.
struct SpooledBed : Bed {
  std::unique_ptr<HbaseStore> Open(uint64_t bytes_max = 1 << 20) {
    HbaseOptions options = Hasty(gateway->ClientOptions());
    options.deadline_ms = 50;  // for calls that do not wait
    options.spool.emplace();
    options.spool->folder = "/spool";
    options.spool->tables = {"g"};
    options.spool->bytes_max = bytes_max;
    options.spool->patience_ms = 5;
    options.spool->retry_ms = 1;
    options.spool->refusal_patience_ms = refusal_patience_ms;
    options.batch_rows = batch_rows;
    auto connected = HbaseStore::Connect(options, disk);
    INFO(connected.status().ToString());
    REQUIRE(connected.ok());
    return std::move(*connected);
  }

  FaultyFileSystem disk{1};
  int refusal_patience_ms = 60'000;
  size_t batch_rows = 1024;
};

Status Write(HbaseStore& store, const Bytes& key, const Bytes& value) {
  return store.Mutate("g", {{key, {PutCell("a", "q", value)}}});
}

Bytes Read(Store& store, const Bytes& key) {
  auto row = store.Get("g", key, "a", {"q"});
  REQUIRE(row.ok());
  return row->cells.empty() ? Bytes() : row->cells[0].value;
}

void WaitEmpty(const HbaseStore& store) {
  while (store.Stats().spool->bytes > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("writes that HBase cannot accept are acknowledged, and are there when it is back") {
  SpooledBed bed;
  auto store = bed.Open();
  REQUIRE(Write(*store, "k", "1").ok());
  CHECK(store->Stats().spool->rows_taken == 0);
  bed.SetAway(true);
  CHECK(Write(*store, "k", "2").ok());
  CHECK(Write(*store, "l", "2").ok());
  CHECK(Write(*store, "k", "3").ok());
  CHECK(store->Stats().spool->rows_taken == 3);
  CHECK(store->Sync().ok());
  CHECK(Read(bed.model, "k") == "1");
  bed.SetAway(false);
  WaitEmpty(*store);
  CHECK(Read(bed.model, "k") == "3");
  CHECK(Read(bed.model, "l") == "2");
  // From now on writes go to HBase itself, at the latest when the end of the replay is recorded on
  // disk.
  while (store->Stats().spool->rows_taken == store->Stats().spool->rows_replayed &&
         store->Stats().spool->rows_taken < 1000) {
    const uint64_t taken = store->Stats().spool->rows_taken;
    REQUIRE(Write(*store, "k", "4").ok());
    if (store->Stats().spool->rows_taken == taken) break;
    WaitEmpty(*store);
  }
  CHECK(Read(bed.model, "k") == "4");
}

TEST_CASE(
    "writes that wait when the daemon stops are replayed by the next one before newer writes") {
  SpooledBed bed;
  auto store = bed.Open();
  bed.SetAway(true);
  REQUIRE(Write(*store, "k", "1").ok());
  REQUIRE(store->Append("g", "k", "a", "n", "1").ok());
  REQUIRE(store->Append("g", "k", "a", "n", "2").ok());
  store.reset();
  bed.SetAway(false);
  bed.Hold("put");
  store = bed.Open();
  REQUIRE(Write(*store, "k", "2").ok());
  bed.Release();
  WaitEmpty(*store);
  CHECK(Read(bed.model, "k") == "2");
  CHECK(bed.model.Get("g", "k", "a", {"n"})->cells[0].value == "12");
}

TEST_CASE("writes that the spool does not take fail while HBase is unreachable") {
  SpooledBed bed;
  REQUIRE(bed.model.CreateTable({"h", {{"a"}}, false}).ok());
  auto store = bed.Open();
  bed.SetAway(true);
  const auto code = [&](const std::string& table, const CellChange& change) {
    return store->Mutate(table, {{"k", {change}}}).code();
  };
  CHECK(code("h", PutCell("a", "q", "1")) == StatusCode::kUnavailable);
  CHECK(code("g", DeleteColumn("a", "q")) == StatusCode::kUnavailable);
  CHECK(store->Append("h", "k", "a", "q", "1").code() == StatusCode::kUnavailable);
  CHECK(store->Increment("g", "k", "a", "q", 1).status().code() == StatusCode::kUnavailable);
  CHECK(store->Stats().spool->rows_taken == 0);
  REQUIRE(Write(*store, "k", "1").ok());
  // The spool also refuses what HBase would refuse.
  CellChange before_time = PutCell("a", "q", "1");
  before_time.timestamp_ms = -1;
  CHECK(code("g", before_time) == StatusCode::kInvalidArgument);
}

TEST_CASE("rows and cells are not deleted while older writes to them may wait") {
  SpooledBed bed;
  auto store = bed.Open();
  bed.SetAway(true);
  REQUIRE(Write(*store, "k", "1").ok());
  bed.Hold("put");
  bed.SetAway(false);
  const Status refused = store->DeleteRow("g", "k");
  CHECK(refused.code() == StatusCode::kUnavailable);
  CHECK(refused.message().find("wait for HBase") != std::string_view::npos);
  const Status cell = store->Mutate("g", {{"k", {DeleteColumn("a", "q")}}});
  CHECK(cell.code() == StatusCode::kUnavailable);
  CHECK(cell.message().find("wait for HBase") != std::string_view::npos);
  bed.Release();
  Status deleted;
  do {
    deleted = store->DeleteRow("g", "k");
  } while (deleted.code() == StatusCode::kUnavailable);
  CHECK(deleted.ok());
  CHECK(Read(bed.model, "k").empty());
}

TEST_CASE("if spool and disk are full, the writer gets an error, and later writes are accepted") {
  SpooledBed bed;
  auto store = bed.Open(500);
  bed.SetAway(true);
  Status status;
  int taken = 0;
  while ((status = Write(*store, "k" + std::to_string(taken), "1")).ok()) ++taken;
  CHECK(status.code() == StatusCode::kBusy);
  bed.SetAway(false);
  WaitEmpty(*store);
  for (int i = 0; i < taken; ++i) CHECK(Read(bed.model, "k" + std::to_string(i)) == "1");
  bed.SetAway(true);
  CHECK(Write(*store, "k", "2").ok());
}

TEST_CASE("a table that is missing during replay is waited for") {
  SpooledBed bed;
  auto store = bed.Open();
  bed.SetAway(true);
  REQUIRE(Write(*store, "k", "1").ok());
  REQUIRE(bed.model.DropTable("g").ok());
  bed.SetAway(false);
  while (store->Stats().spool->failure.find("no such table") == std::string::npos) {
    std::this_thread::yield();
  }
  REQUIRE(bed.model.CreateTable(kTable).ok());
  WaitEmpty(*store);
  CHECK(Read(bed.model, "k") == "1");
}

TEST_CASE("a row that HBase refuses permanently does not delay other rows") {
  SpooledBed bed;
  bed.refusal_patience_ms = 0;
  auto store = bed.Open();
  bed.SetAway(true);
  const auto statuses = store->MutateRows("g", {{"k", {PutCell("a", "q", "1")}},
                                                {"bad", {PutCell("nowhere", "q", "1")}},
                                                {"l", {PutCell("a", "q", "1")}}});
  for (const Status& status : statuses) CHECK(status.ok());
  bed.SetAway(false);
  WaitEmpty(*store);
  CHECK(Read(bed.model, "k") == "1");
  CHECK(Read(bed.model, "l") == "1");
  CHECK(store->Stats().spool->rows_set_aside == 1);
  CHECK(store->Stats().spool->set_aside.find("NoSuchColumnFamily") != std::string::npos);
}

TEST_CASE("if a row of a call waits in the spool, the later rows of the call wait behind it") {
  SpooledBed bed;
  bed.batch_rows = 2;
  auto store = bed.Open();
  bed.DropAll("putMultiple", Stage::kBefore);
  REQUIRE(store
              ->MutateRows("g", {{"k", {PutCell("a", "q", "1")}},
                                 {"l", {PutCell("a", "q", "1")}},
                                 {"k", {PutCell("a", "q", "2")}}})[0]
              .ok());
  bed.SetAway(false);
  WaitEmpty(*store);
  CHECK(Read(bed.model, "k") == "2");
}

TEST_CASE("no write waits for a hanging call longer than the spool's patience") {
  SpooledBed bed;
  auto store = bed.Open();
  bed.Hold("put");
  std::thread hangs([&] { CHECK(Write(*store, "k", "1").ok()); });
  bed.WaitHeld(1);
  CHECK(Write(*store, "l", "1").ok());
  CHECK(Write(*store, "k", "2").ok());
  CHECK(store->Stats().spool->rows_taken == 2);
  bed.Release();
  hangs.join();
  WaitEmpty(*store);
  CHECK(Read(bed.model, "k") == "2");
  CHECK(Read(bed.model, "l") == "1");
}

/// Writes increasing numbers to its own cells until it is stopped.
class Writer {
 public:
  Writer(HbaseStore* store, int number)
      : key_("w" + std::to_string(number)), thread_([this, store] { Work(store); }) {}

  void Stop() {
    stop_ = true;
    thread_.join();
  }
  [[nodiscard]] int written() const { return written_; }

  /// Checks that the cell has the last acknowledged number, or a later one that was tried.
  void Check(Store& there) const {
    const Bytes value = Read(there, key_);
    REQUIRE(!value.empty());
    CHECK(std::stoi(value) >= acknowledged_);
    CHECK(std::stoi(value) <= written_);
  }

 private:
  void Work(HbaseStore* store) {
    while (!stop_) {
      const int n = written_ + 1;
      if (Write(*store, key_, std::to_string(n)).ok()) acknowledged_ = n;
      written_ = n;
      // Without this pause, the spool would accept more writes to one cell than a gateway can take
      // from it one by one.
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  const Bytes key_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> written_ = 0;
  int acknowledged_ = 0;
  std::thread thread_;
};

TEST_CASE("gateways that come and go lose and reorder no acknowledged write") {
  SpooledBed bed;
  auto store = bed.Open(64 << 20);
  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < 4; ++i) writers.push_back(std::make_unique<Writer>(store.get(), i));
  const auto wait = [&](int more) {
    for (const auto& writer : writers) {
      const int before = writer->written();
      while (writer->written() < before + more) std::this_thread::yield();
    }
  };
  for (int round = 0; round < 5; ++round) {
    wait(20);
    bed.StopGateway();
    wait(20);
    bed.StartGateway();
    wait(20);
    bed.Drop(round % 2 == 0 ? "put" : "putMultiple",
             round % 3 == 0 ? Stage::kBefore : Stage::kAfter);
    wait(20);
  }
  for (const auto& writer : writers) writer->Stop();
  bed.SetAway(false);
  WaitEmpty(*store);
  for (const auto& writer : writers) writer->Check(bed.model);
  CHECK(store->Stats().spool->rows_taken > 0);
  CHECK(store->Stats().spool->rows_refused == 0);
}

}  // namespace
}  // namespace hg::hbase
