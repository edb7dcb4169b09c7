// Puts of several callers: which ones are sent together, in which order, and which results callers
// get.

#include "storage/hbase/put_queue.h"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "tests/storage/hbase/gateway_bed.h"

namespace hg::hbase {
namespace {

/// Several callers with one call each, which wait for a call that the gateway delays.
struct Crowd {
  explicit Crowd(Bed* bed, const HbaseOptions& options) : bed(bed), store(bed->Connect(options)) {
    bed->Hold("put");
    Call({PutRow("first", "1")});
    bed->WaitHeld(1);
  }

  void Call(std::vector<RowMutation> rows) {
    const size_t caller = statuses.size();
    statuses.emplace_back();
    threads.emplace_back([this, caller, rows = std::move(rows)] {
      statuses[caller] = store->MutateRows("g", rows);
    });
  }

  void WaitWaiting(size_t puts) const {
    while (store->Stats().puts_waiting < puts) std::this_thread::yield();
  }

  void Finish() {
    bed->Release();
    for (std::thread& thread : threads) thread.join();
  }

  Bed* bed;
  std::unique_ptr<HbaseStore> store;
  std::deque<std::vector<Status>> statuses;  // of each caller
  std::vector<std::thread> threads;
};

TEST_CASE("waiting puts of several callers are sent in one call") {
  Bed bed;
  Crowd crowd(&bed, Hasty(bed.gateway->ClientOptions()));
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    crowd.Call({PutRow("k" + n, n), PutRow("l" + n, n)});
  }
  crowd.WaitWaiting(40);
  crowd.Finish();
  for (const auto& statuses : crowd.statuses) {
    for (const Status& status : statuses) CHECK(status.ok());
  }
  CHECK(bed.Calls("put") == 1);
  CHECK(bed.Calls("putMultiple") == 1);
  for (int i = 0; i < 20; ++i) {
    CHECK(ValueOf(*crowd.store, "l" + std::to_string(i)) == std::to_string(i));
  }
  const HbaseStats stats = crowd.store->Stats();
  CHECK(stats.puts_waiting == 0);
  CHECK(stats.put_batches == 2);
  CHECK(stats.put_rows == 41);
}

TEST_CASE("a full batch is sent alongside a running call") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.batch_rows = 3;
  Crowd crowd(&bed, options);
  crowd.Call({PutRow("k", "1"), PutRow("l", "1"), PutRow("m", "1")});
  while (bed.Calls("putMultiple") == 0) std::this_thread::yield();
  crowd.Finish();
  CHECK(ValueOf(*crowd.store, "m") == "1");
}

TEST_CASE("each caller gets the results of its own puts") {
  Bed bed;
  Crowd crowd(&bed, Hasty(bed.gateway->ClientOptions()));
  crowd.Call({PutRow("k", "1")});
  crowd.WaitWaiting(1);
  crowd.Call({PutRow("l", "1", "nowhere"), PutRow("m", "1")});
  crowd.WaitWaiting(3);
  crowd.Call({PutRow("n", "1")});
  crowd.WaitWaiting(4);
  crowd.Finish();
  CHECK(crowd.statuses[1][0].ok());
  CHECK(crowd.statuses[2][0].code() == StatusCode::kNotFound);
  CHECK(crowd.statuses[2][1].ok());
  CHECK(crowd.statuses[3][0].ok());
  CHECK(ValueOf(*crowd.store, "n") == "1");
}

TEST_CASE("of puts to one row the later one wins, whichever callers sent them") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.batch_rows = 2;
  Crowd crowd(&bed, options);
  // Full batches would be sent at once if the row were not being sent.
  for (int i = 0; i < 6; ++i) {
    crowd.Call({PutRow("first", std::to_string(i)), PutRow("k", std::to_string(i))});
    crowd.WaitWaiting(2 * static_cast<size_t>(i + 1));
  }
  CHECK(bed.Calls("putMultiple") == 0);
  crowd.Finish();
  CHECK(ValueOf(*crowd.store, "first") == "5");
  CHECK(ValueOf(*crowd.store, "k") == "5");
}

TEST_CASE("of puts to one column in one call the last one wins: they are sent one after another") {
  Bed bed;
  auto store = bed.Connect();
  const auto put = [](const Bytes& qualifier, const Bytes& value) {
    return RowMutation{"k", {PutCell("a", qualifier, value)}};
  };
  const auto statuses = store->MutateRows(
      "g", {put("q", "1"), put("r", "1"), put("q", "2"), put("s", "1"), put("q", "3")});
  for (const Status& status : statuses) CHECK(status.ok());
  CHECK(ValueOf(*store, "k") == "3");
  CHECK(store->Stats().put_batches == 3);
  CHECK(store->Stats().put_rows == 5);
}

TEST_CASE("if HBase becomes unreachable, waiting callers get the error at once") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.deadline_ms = 20;
  Crowd crowd(&bed, options);
  crowd.Call({PutRow("k", "1")});
  crowd.Call({PutRow("l", "1")});
  crowd.WaitWaiting(2);
  // The put that was sent loses its connection. The waiting ones must then fail without being sent.
  bed.DropAll("put", Stage::kBefore);
  crowd.Finish();
  for (const auto& statuses : crowd.statuses) {
    CHECK(statuses[0].code() == StatusCode::kUnavailable);
  }
  CHECK(crowd.store->Stats().put_batches == 1);
}

TEST_CASE("statistics have calls, repetitions, failures and connections") {
  Bed bed;
  HbaseOptions options = Hasty(bed.gateway->ClientOptions());
  options.deadline_ms = 60'000;
  auto store = bed.Connect(options);
  REQUIRE(store->Mutate("g", {PutRow("k", "1")}).ok());
  bed.Drop("get", Stage::kBefore);
  CHECK(ValueOf(*store, "k") == "1");
  CHECK(store->Get("nowhere", "k").status().code() == StatusCode::kNotFound);
  const auto find = [&](const std::string& method) {
    for (const HbaseStats::Calls& calls : store->Stats().calls) {
      if (calls.method == method) return calls;
    }
    return HbaseStats::Calls();
  };
  CHECK(find("put").calls == 1);
  CHECK(find("put").repeats == 0);
  CHECK(find("get").calls == 2);
  CHECK(find("get").repeats == 1);
  CHECK(find("get").failures == 1);
  auto gateways = store->Stats().gateways;
  REQUIRE(gateways.size() == 1);
  CHECK(gateways[0].port == bed.gateway->port());
  CHECK(gateways[0].open == 1);
  CHECK(gateways[0].idle == 1);
  CHECK(gateways[0].opened == 2);
  CHECK_FALSE(gateways[0].away);

  options.deadline_ms = 20;
  const auto hasty = bed.Connect(options);
  bed.gateway->Stop();
  CHECK_FALSE(hasty->Get("g", "k").ok());
  CHECK(hasty->Stats().gateways[0].away);
  CHECK(hasty->Stats().gateways[0].open == 0);
}

}  // namespace
}  // namespace hg::hbase
