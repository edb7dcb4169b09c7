#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/query/running_requests_fixture.h"

namespace hg::query {
namespace {

/// Options with a memory of 10,000 bytes, in which large queries wait for at most `wait_max_ms`.
Options WithLittleMemory(int64_t wait_max_ms) {
  Options options;
  options.timeout_ms = 300'000;
  options.memory_bytes_max = 10'000;
  options.large_bytes = 1000;
  options.large_queries.wait_max_ms = wait_max_ms;
  return options;
}

template <typename Condition>
void WaitUntil(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

void WaitUntilOneWaits(Queries& queries) {
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
}

}  // namespace

TEST_CASE("large queries wait for each other, and small ones never wait") {
  Options options;
  options.large_steps = kManySteps / 2;
  options.large_queries.width = 1;
  Queries queries(options);
  int long_ones = 0;
  RequestClient client;
  client.takes_long = [&] { ++long_ones; };
  auto first = queries.Begin(std::move(client));
  CHECK(first->Step(kManySteps).ok());
  CHECK(first->Step(kManySteps).ok());
  CHECK(long_ones == 1);
  CHECK(queries.running.large_queries().working() == 1);

  auto second = queries.Begin();
  Status went;
  std::thread waits([&] { went = second->Step(kManySteps); });
  WaitUntilOneWaits(queries);
  CHECK(queries.running.Running()[1].phase == RequestPhase::kWaiting);
  CHECK(queries.Begin()->Step(kManySteps / 4).ok());  // a small query

  first->BeginAnswer();  // the first query gives up its place among the large queries
  waits.join();
  CHECK(went.ok());
  CHECK(queries.running.large_queries().working() == 1);
  second.reset();
  CHECK(queries.running.large_queries().working() == 0);
}

TEST_CASE("a write never waits for large queries and takes no place of theirs") {
  Options options = WithLittleMemory(1);
  options.large_steps = kManySteps / 2;
  options.large_queries.width = 1;
  Queries queries(options);
  auto query = queries.Begin();
  CHECK(query->Step(kManySteps).ok());
  CHECK(queries.running.large_queries().working() == 1);
  auto write = queries.Begin();
  write->BecomeWrite(1);
  CHECK(write->Step(kManySteps).ok());
  CHECK(write->Charge(2000).ok());
  CHECK(queries.running.large_queries().working() == 1);
}

TEST_CASE("a write that takes long tells this once, even if its steps and memory are few") {
  for (const bool writes : {true, false}) {
    Queries queries;
    int long_ones = 0;
    RequestClient client;
    client.takes_long = [&] { ++long_ones; };
    auto request = queries.Begin(std::move(client));
    if (writes) request->BecomeWrite(1);
    queries.clock.AdvanceMs(RunningRequest::kShortWriteNs / 1'000'000);
    CHECK(request->Check().ok());
    CHECK(long_ones == 0);
    queries.clock.AdvanceMs(1);
    CHECK(request->Check().ok());
    CHECK(request->Check().ok());
    CHECK(long_ones == (writes ? 1 : 0));
  }
}

TEST_CASE("a query with much memory is large too") {
  Options options;
  options.large_bytes = 1000;
  options.large_queries.width = 1;
  Queries queries(options);
  auto query = queries.Begin();
  CHECK(query->Charge(1000).ok());
  CHECK(queries.running.large_queries().working() == 0);
  CHECK(query->Charge(1).ok());
  CHECK(queries.running.large_queries().working() == 1);
}

TEST_CASE("a large query with most of the memory does not wait for itself") {
  Options options;
  options.memory_bytes_max = 80'000;
  options.large_bytes = 1000;
  Queries queries(options);
  auto large = queries.Begin();
  CHECK(large->Charge(60'000).ok());
  CHECK(queries.running.large_queries().working() == 1);
}

TEST_CASE("large queries leave an eighth of the memory for small ones") {
  Options options;
  options.memory_bytes_max = 80'000;
  options.large_bytes = 1000;
  Queries queries(options);
  auto large = queries.Begin(), small = queries.Begin();
  CHECK(large->Charge(70'000).ok());
  CHECK(large->Charge(1).code() == StatusCode::kBusy);
  CHECK(small->Charge(1000).ok());
}

TEST_CASE("waiting queries can be ended like running ones, and their number is limited") {
  Options options;
  options.large_bytes = 1000;
  options.large_queries.width = 1;
  options.large_queries.waiting_max = 1;
  Queries queries(options);
  auto first = queries.Begin(), second = queries.Begin(), third = queries.Begin();
  CHECK(first->Charge(2000).ok());
  Status went;
  std::thread waits([&] { went = second->Charge(2000); });
  WaitUntilOneWaits(queries);
  CHECK(third->Charge(2000).code() == StatusCode::kBusy);
  CHECK(queries.running.Kill(queries.running.Running()[1].id));
  waits.join();
  CHECK(went.code() == StatusCode::kDeadlineExceeded);
  CHECK(queries.running.budget().taken() == 2000);
}

TEST_CASE("the time for which a large query waits is limited") {
  Options options;
  options.large_bytes = 1000;
  options.large_queries.width = 1;
  options.large_queries.wait_max_ms = 100;
  Queries queries(options);
  auto first = queries.Begin(), second = queries.Begin();
  CHECK(first->Charge(2000).ok());
  Status went;
  std::thread waits([&] { went = second->Charge(2000); });
  WaitUntilOneWaits(queries);
  queries.clock.AdvanceMs(101);
  waits.join();
  CHECK(went.code() == StatusCode::kBusy);
}

TEST_CASE("a query that has waited in vain does not wait again, on any of its threads") {
  Options options;
  options.large_steps = 1;
  options.large_queries.width = 1;
  options.large_queries.wait_max_ms = 100;
  Queries queries(options);
  RequestClient client;
  std::atomic<int> taken_long{0};
  client.takes_long = [&] { ++taken_long; };
  auto first = queries.Begin(), second = queries.Begin(std::move(client));
  CHECK(first->Step(kManySteps).ok());
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      if (second->Step(kManySteps).code() == StatusCode::kBusy) ++refused;
    });
  }
  WaitUntilOneWaits(queries);
  queries.clock.AdvanceMs(101);
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 3);
  CHECK(taken_long == 1);
  first.reset();
  CHECK(second->Step(kManySteps).code() == StatusCode::kBusy);
  CHECK(queries.running.large_queries().working() == 0);
}

TEST_CASE("no large query starts while half of the memory is in use") {
  Options options;
  options.memory_bytes_max = 10'000;
  options.large_bytes = 1000;
  Queries queries(options);
  auto first = queries.Begin(), second = queries.Begin();
  CHECK(first->Charge(5000).ok());
  CHECK(first->Charge(1000).ok());
  first->BeginAnswer();
  Status went;
  std::thread waits([&] { went = second->Charge(2000); });
  WaitUntilOneWaits(queries);
  first.reset();
  waits.join();
  CHECK(went.ok());
}

TEST_CASE(
    "a response that is sent for longer than the time limit ends if large queries need its "
    "memory") {
  Queries queries(WithLittleMemory(1'000'000));
  std::atomic<bool> cut = false, small_cut = false;
  RequestClient slow, small;
  slow.cut = [&] { cut = true; };
  small.cut = [&] { small_cut = true; };
  auto first = queries.Begin(std::move(slow)), second = queries.Begin(std::move(small), "2h-ago");
  CHECK(first->Charge(5500).ok());
  CHECK(second->Charge(1000).ok());
  first->BeginAnswer();
  second->BeginAnswer();
  queries.clock.AdvanceMs(300'001);
  CHECK(first->Check().ok());  // no query waits for this memory
  auto third = queries.Begin({}, "3h-ago");
  Status went;
  std::thread waits([&] { went = third->Charge(2000); });
  WaitUntil([&] { return cut.load(); });
  CHECK(first->Check().code() == StatusCode::kBusy);
  CHECK(second->Check().ok());  // the memory of the first one is enough
  CHECK_FALSE(small_cut);
  first.reset();
  waits.join();
  CHECK(went.ok());
}

TEST_CASE("a response that holds too little memory to help large queries is sent to its end") {
  Queries queries(WithLittleMemory(200'000));
  auto first = queries.Begin();
  CHECK(first->Charge(1000).ok());
  first->BeginAnswer();
  queries.clock.AdvanceMs(300'001);
  auto second = queries.Begin({}, "2h-ago"), third = queries.Begin({}, "3h-ago");
  CHECK(second->Charge(5000).ok());
  CHECK(second->Charge(1500).ok());
  Status went;
  std::thread waits([&] { went = third->Charge(1100); });
  WaitUntilOneWaits(queries);
  queries.clock.AdvanceMs(200'001);
  waits.join();
  CHECK(went.code() == StatusCode::kBusy);
  CHECK(first->Check().ok());
}

TEST_CASE("a response that is sent within the time limit keeps its memory") {
  Queries queries(WithLittleMemory(100));
  auto first = queries.Begin();
  CHECK(first->Charge(6000).ok());
  queries.clock.AdvanceMs(299'000);
  first->BeginAnswer();
  queries.clock.AdvanceMs(299'000);  // the time limit counts from the start of the response
  auto second = queries.Begin({}, "2h-ago");
  Status went;
  std::thread waits([&] { went = second->Charge(2000); });
  WaitUntilOneWaits(queries);
  queries.clock.AdvanceMs(101);
  waits.join();
  CHECK(went.code() == StatusCode::kBusy);
  CHECK(first->Check().ok());
}

TEST_CASE("large queries of a user, or else of an address, are queries of one client") {
  Options options;
  options.large_bytes = 1000;
  options.large_queries.width = 1;
  const auto client = [](const std::string& remote, const std::string& user) {
    RequestClient out = From(remote);
    out.user = user;
    out.gone = [] { return true; };  // a query that has to wait ends
    return out;
  };
  // A query of another client may start although the only slot is taken.
  const auto is_same = [&](RequestClient one, RequestClient other) {
    Queries queries(options);
    const auto first = queries.running.Begin("GET /api/query", std::move(one));
    const auto second = queries.running.Begin("GET /api/query", std::move(other));
    CHECK(first->Charge(2000).ok());
    return !second->Charge(2000).ok();
  };
  CHECK(is_same(client("10.0.0.1:1", ""), client("10.0.0.1:2", "")));
  CHECK_FALSE(is_same(client("10.0.0.1:1", ""), client("10.0.0.2:1", "")));
  CHECK(is_same(client("10.0.0.1:1", "alice"), client("10.0.0.2:1", "alice")));
  CHECK_FALSE(is_same(client("10.0.0.1:1", "alice"), client("10.0.0.1:1", "bob")));
  CHECK_FALSE(is_same(client("10.0.0.1:1", ""), client("10.0.0.2:1", "10.0.0.1")));
  CHECK_FALSE(is_same(client("", ""), client("", "")));
}

TEST_CASE("the threads of one large query take one place together") {
  Options options;
  options.large_steps = 1;
  options.large_queries.width = 1;
  Queries queries(options);
  auto query = queries.Begin();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (!query->Step(kManySteps).ok()) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(queries.running.large_queries().working() == 1);
}

TEST_CASE(
    "a query on an event loop is refused before it is large, and is forgotten when it is "
    "withdrawn") {
  Queries queries;
  {
    auto query = queries.Begin();
    query->TryOnLoop(100);
    CHECK(query->Step(100).ok());
    CHECK_FALSE(query->refused());
    CHECK_FALSE(query->Step(1).ok());
    CHECK(query->refused());
    query->Withdraw();
  }
  CHECK(queries.running.Running().empty());
  CHECK(queries.running.Completed().empty());
  auto query = queries.Begin();
  CHECK(query->Step(kManySteps).ok());
  CHECK_FALSE(query->refused());
  query.reset();
  CHECK(queries.running.Completed().size() == 1);
}

TEST_CASE("a large query does not wait for its turn on an event loop") {
  Options options;
  options.large_steps = 10;
  Queries queries(options);
  auto query = queries.Begin();
  query->TryOnLoop(UINT64_MAX);
  CHECK_FALSE(query->Step(kManySteps).ok());
  CHECK(query->refused());
}

}  // namespace hg::query
