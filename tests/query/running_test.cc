#include "query/running.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/no_wait.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

constexpr uint64_t kManySteps = 1 << 20;  // a look is among them

/// Queries of one daemon.
struct Queries {
  explicit Queries(const Options& options = {}) : running(options, clock) {}

  std::unique_ptr<RunningQuery> Begin(QueryClient client = {},
                                      const std::string& start = "1h-ago") {
    Request request;
    request.start = start;
    return *running.Begin(request, std::move(client));
  }

  ManualClock clock{1'500'000'000'000};
  RunningQueries running;
};

QueryClient From(const std::string& remote) {
  QueryClient client;
  client.remote = remote;
  client.refuse_repeats = true;
  return client;
}

template <typename Condition>
void WaitUntil(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("memory is refused beyond what one query may hold, and told with limit and query") {
  Options options;
  options.query_memory_bytes_max = 10 << 20;
  options.large_bytes = 0;
  Queries queries(options);
  auto query = queries.Begin();
  CHECK(query->Charge(10 << 20).ok());
  const Status refused = query->Charge(1);
  CHECK(refused.code() == StatusCode::kLimitExceeded);
  CHECK(refused.message().find("10 MB") != std::string::npos);
  CHECK(refused.message().find("tsd.query.memory.per_query") != std::string::npos);
  CHECK(refused.message().find("start=1h-ago") != std::string::npos);
  CHECK(query->Charge(-1).ok());
  CHECK(query->Charge(1).ok());
}

TEST_CASE("memory of all queries together is bounded, and comes free with a query's end") {
  Options options;
  options.memory_bytes_max = 10 << 20;
  options.large_bytes = 0;
  Queries queries(options);
  auto first = queries.Begin(), second = queries.Begin();
  CHECK(first->Charge(6 << 20).ok());
  const Status refused = second->Charge(6 << 20);
  CHECK(refused.code() == StatusCode::kBusy);
  CHECK(refused.message().find("10 MB") != std::string::npos);
  CHECK(queries.running.budget().taken() == 6 << 20);
  first.reset();
  CHECK(queries.running.budget().taken() == 0);
  CHECK(second->Charge(6 << 20).ok());
}

TEST_CASE("a query ends when its time is over, until its answer goes out") {
  Options options;
  options.timeout_ms = 50;
  Queries queries(options);
  auto query = queries.Begin();
  queries.clock.AdvanceMs(50);
  CHECK(query->Step(kManySteps).ok());
  queries.clock.AdvanceMs(1);
  const Status late = query->Step(kManySteps);
  CHECK(late.code() == StatusCode::kDeadlineExceeded);
  CHECK(late.message().find("Time limit: 50 ms, fetch time: 51 ms") != std::string::npos);
  query->BeginAnswer();
  CHECK(query->Step(kManySteps).ok());
}

TEST_CASE("a query ends when its client has gone") {
  Queries queries;
  bool gone = false;
  QueryClient client;
  client.gone = [&] { return gone; };
  auto query = queries.Begin(std::move(client));
  CHECK(query->Step(kManySteps).ok());
  gone = true;
  CHECK(query->Step(kManySteps).code() == StatusCode::kDeadlineExceeded);
  query.reset();
  CHECK(queries.running.Completed()[0]->client_gone);
}

TEST_CASE("steps are looked at now and then only") {
  Queries queries;
  int looks = 0;
  QueryClient client;
  client.gone = [&] { return ++looks < 0; };
  auto query = queries.Begin(std::move(client));
  for (int i = 0; i < 1000; ++i) CHECK(query->Step(1000).ok());
  CHECK(looks > 5);
  CHECK(looks < 50);
}

TEST_CASE("a query is ended by its id; an answer on its way is cut") {
  Queries queries;
  int cuts = 0;
  QueryClient client;
  client.cut = [&] { ++cuts; };
  auto query = queries.Begin(std::move(client));
  const uint64_t id = queries.running.Running().at(0).id;
  CHECK_FALSE(queries.running.Kill(id + 1));
  CHECK(query->Look().ok());
  CHECK(queries.running.Kill(id));
  CHECK(query->Look().code() == StatusCode::kDeadlineExceeded);
  CHECK(cuts == 0);
  query->BeginAnswer();
  CHECK_FALSE(query->Look().ok());
  CHECK(queries.running.Kill(id));
  CHECK(cuts == 1);
  query.reset();
  CHECK_FALSE(queries.running.Kill(id));
}

TEST_CASE("the same query of the same address is refused while one runs, if that is forbidden") {
  Options options;
  options.simultaneous_duplicates = false;
  Queries queries(options);
  Request same, other;
  other.start = "1h-ago";
  auto first = queries.running.Begin(same, From("10.0.0.1:1"));
  const auto again = queries.running.Begin(same, From("10.0.0.1:2"));
  CHECK(again.status().code() == StatusCode::kInvalidArgument);
  CHECK(again.status().message() == "Query is already executing for endpoint: 10.0.0.1");
  CHECK(queries.running.Begin(same, From("10.0.0.2:1")).ok());
  CHECK(queries.running.Begin(other, From("10.0.0.1:1")).ok());
  CHECK(queries.running.Begin(same, {}).ok());
  (*first).reset();
  CHECK(queries.running.Begin(same, From("10.0.0.1:2")).ok());

  Queries tolerant;
  auto one = tolerant.running.Begin(same, From("10.0.0.1:1"));
  CHECK(tolerant.running.Begin(same, From("10.0.0.1:2")).ok());
}

TEST_CASE("completed queries are kept once for each address, newest first, and counted") {
  Queries queries;
  for (int i = 0; i < 3; ++i) queries.Begin(From("10.0.0.1:" + std::to_string(i)));
  queries.Begin(From("10.0.0.2:1"));
  auto completed = queries.running.Completed();
  REQUIRE(completed.size() == 2);
  CHECK(completed[0]->remote == "10.0.0.2:1");
  CHECK(completed[0]->executed == 1);
  CHECK(completed[1]->remote == "10.0.0.1:2");
  CHECK(completed[1]->executed == 3);
  for (int i = 0; i < 300; ++i) queries.Begin(From("a:1"), std::to_string(i));
  completed = queries.running.Completed();
  REQUIRE(completed.size() == RunningQueries::kCompletedMax);
  CHECK(completed[0]->request->start == "299");
}

TEST_CASE("of a very long request no sub-queries are kept") {
  Queries queries;
  Request request;
  request.start = "1h-ago";
  request.queries.resize(1);
  request.queries[0].metric = std::string(1 << 20, 'm');
  auto query = *queries.running.Begin(request, {});
  CHECK(queries.running.Running()[0].request->queries.empty());
  query.reset();
  CHECK(queries.running.Completed()[0]->request->queries.empty());
  CHECK(queries.running.Completed()[0]->request->start == "1h-ago");
}

TEST_CASE("who listens is told of an end with duration, memory and outcome") {
  Queries queries;
  std::vector<CompletedQuery> ends;
  queries.running.ListenForEnds([&](const CompletedQuery& query) { ends.push_back(query); });
  {
    auto query = queries.Begin(From("10.0.0.1:1"));
    CHECK(query->Charge(1000).ok());
    CHECK(query->Charge(-400).ok());
    queries.clock.AdvanceMs(70);
    query->SetEnd({Status::LimitExceeded("too much"), 413, true});
  }
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].elapsed_ns == 70'000'000);
  CHECK(ends[0].memory_most_bytes == 1000);
  CHECK(ends[0].end.http_status == 413);
  CHECK(ends[0].end.failure.message() == "too much");
}

TEST_CASE("large queries wait for each other, small ones for nobody") {
  Options options;
  options.large_steps = kManySteps / 2;
  options.large_lane.width = 1;
  Queries queries(options);
  int long_ones = 0;
  QueryClient client;
  client.takes_long = [&] { ++long_ones; };
  auto first = queries.Begin(std::move(client));
  CHECK(first->Step(kManySteps).ok());
  CHECK(first->Step(kManySteps).ok());
  CHECK(long_ones == 1);
  CHECK(queries.running.lane().working() == 1);

  auto second = queries.Begin();
  Status went;
  std::thread waits([&] { went = second->Step(kManySteps); });
  WaitUntil([&] { return queries.running.lane().waiting() == 1; });
  CHECK(queries.running.Running()[1].phase == QueryPhase::kWaiting);
  CHECK(queries.Begin()->Step(kManySteps / 4).ok());  // a small one

  first->BeginAnswer();  // leaves the lane
  waits.join();
  CHECK(went.ok());
  CHECK(queries.running.lane().working() == 1);
  second.reset();
  CHECK(queries.running.lane().working() == 0);
}

TEST_CASE("a query that holds much is a large one, too") {
  Options options;
  options.large_bytes = 1000;
  options.large_lane.width = 1;
  Queries queries(options);
  auto query = queries.Begin();
  CHECK(query->Charge(1000).ok());
  CHECK(queries.running.lane().working() == 0);
  CHECK(query->Charge(1).ok());
  CHECK(queries.running.lane().working() == 1);
}

TEST_CASE("a large query that holds most of the memory does not wait for itself") {
  Options options;
  options.memory_bytes_max = 80'000;
  options.large_bytes = 1000;
  Queries queries(options);
  auto large = queries.Begin();
  CHECK(large->Charge(60'000).ok());
  CHECK(queries.running.lane().working() == 1);
}

TEST_CASE("large queries leave an eighth of the memory to small ones") {
  Options options;
  options.memory_bytes_max = 80'000;
  options.large_bytes = 1000;
  Queries queries(options);
  auto large = queries.Begin(), small = queries.Begin();
  CHECK(large->Charge(70'000).ok());
  CHECK(large->Charge(1).code() == StatusCode::kBusy);
  CHECK(small->Charge(1000).ok());
}

TEST_CASE("those that wait are ended like those that work, and are not too many") {
  Options options;
  options.large_bytes = 1000;
  options.large_lane.width = 1;
  options.large_lane.waiting_max = 1;
  Queries queries(options);
  auto first = queries.Begin(), second = queries.Begin(), third = queries.Begin();
  CHECK(first->Charge(2000).ok());
  Status went;
  std::thread waits([&] { went = second->Charge(2000); });
  WaitUntil([&] { return queries.running.lane().waiting() == 1; });
  CHECK(third->Charge(2000).code() == StatusCode::kBusy);
  CHECK(queries.running.Kill(queries.running.Running()[1].id));
  waits.join();
  CHECK(went.code() == StatusCode::kDeadlineExceeded);
  CHECK(queries.running.budget().taken() == 2000);
}

TEST_CASE("a wait for a place ends after a while") {
  Options options;
  options.large_bytes = 1000;
  options.large_lane.width = 1;
  options.large_lane.wait_max_ms = 100;
  Queries queries(options);
  auto first = queries.Begin(), second = queries.Begin();
  CHECK(first->Charge(2000).ok());
  Status went;
  std::thread waits([&] { went = second->Charge(2000); });
  WaitUntil([&] { return queries.running.lane().waiting() == 1; });
  queries.clock.AdvanceMs(101);
  waits.join();
  CHECK(went.code() == StatusCode::kBusy);
}

TEST_CASE("no large query starts while half of the memory is taken") {
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
  WaitUntil([&] { return queries.running.lane().waiting() == 1; });
  first.reset();
  waits.join();
  CHECK(went.ok());
}

TEST_CASE("threads of one query take one place together") {
  Options options;
  options.large_steps = 1;
  options.large_lane.width = 1;
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
  CHECK(queries.running.lane().working() == 1);
}

TEST_CASE("a query that may not wait stays small, and is forgotten when it is given up") {
  Queries queries;
  {
    NoWait no_wait;
    auto query = queries.Begin();
    query->StayBelow(100);
    CHECK(query->Step(100).ok());
    CHECK_FALSE(no_wait.refused());
    CHECK_FALSE(query->Step(1).ok());
    CHECK(no_wait.refused());
    query->Withdraw();
  }
  CHECK(queries.running.Running().empty());
  CHECK(queries.running.Completed().empty());
  auto query = queries.Begin();
  query->StayBelow(100);
  CHECK(query->Step(kManySteps).ok());  // it may wait here
  query.reset();
  CHECK(queries.running.Completed().size() == 1);
}

TEST_CASE("a large query does not wait for its turn where waiting is refused") {
  Options options;
  options.large_steps = 10;
  Queries queries(options);
  NoWait no_wait;
  CHECK_FALSE(queries.Begin()->Step(kManySteps).ok());
  CHECK(no_wait.refused());
}

}  // namespace hg::query
