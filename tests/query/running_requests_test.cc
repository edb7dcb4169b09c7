#include "query/request/running_requests.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

constexpr uint64_t kManySteps = 1 << 20;  // enough steps for a check of the limits

/// Queries of one daemon.
struct Queries {
  explicit Queries(const Options& options = {}) : running(options, clock) {}

  /// If `client` has no address, it gets the same address as in the other calls.
  std::unique_ptr<RunningRequest> Begin(RequestClient client = {},
                                        const std::string& start = "1h-ago") {
    if (client.remote.empty()) client.remote = "10.0.0.9:1";
    Request query;
    query.start = start;
    auto request = running.Begin("GET /api/query", std::move(client));
    CHECK(request->BecomeQuery(query, {}).ok());
    return request;
  }

  ManualClock clock{1'500'000'000'000};
  RunningRequests running;
};

RequestClient From(const std::string& remote) {
  RequestClient client;
  client.remote = remote;
  return client;
}

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

}  // namespace

TEST_CASE("memory beyond that of one query is refused, with the limit and the query in the error") {
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

TEST_CASE("the memory of all queries is limited, and freed when a query ends") {
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

TEST_CASE("a query ends when its time is over, unless its response has begun") {
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

TEST_CASE("a query ends if its client has gone") {
  Queries queries;
  bool gone = false;
  RequestClient client;
  client.gone = [&] { return gone; };
  auto query = queries.Begin(std::move(client));
  CHECK(query->Step(kManySteps).ok());
  gone = true;
  CHECK(query->Step(kManySteps).code() == StatusCode::kDeadlineExceeded);
  query.reset();
  CHECK(queries.running.Completed()[0]->client_gone);
}

TEST_CASE("a write continues for a moment after its client has gone") {
  Queries queries;
  bool gone = false;
  RequestClient client;
  client.gone = [&] { return gone; };
  auto write = queries.running.Begin("POST /api/put", std::move(client));
  write->BecomeWrite(250);
  queries.clock.AdvanceMs(1000);
  CHECK(write->Check().ok());
  gone = true;
  CHECK(write->Check().ok());
  queries.clock.AdvanceMs(249);
  CHECK(write->Check().ok());
  queries.clock.AdvanceMs(1);
  CHECK(write->Check().code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE("the limits are checked only every few steps") {
  Queries queries;
  int looks = 0;
  RequestClient client;
  client.gone = [&] { return ++looks < 0; };
  auto query = queries.Begin(std::move(client));
  for (int i = 0; i < 1000; ++i) CHECK(query->Step(1000).ok());
  CHECK(looks > 5);
  CHECK(looks < 50);
}

TEST_CASE("a query can be ended by its id, and a response that has begun is cut") {
  Queries queries;
  int cuts = 0;
  RequestClient client;
  client.cut = [&] { ++cuts; };
  auto query = queries.Begin(std::move(client));
  const uint64_t id = queries.running.Running().at(0).id;
  CHECK_FALSE(queries.running.Kill(id + 1));
  CHECK(query->Check().ok());
  CHECK(queries.running.Kill(id));
  CHECK(query->Check().code() == StatusCode::kDeadlineExceeded);
  CHECK(cuts == 0);
  query->BeginAnswer();
  CHECK_FALSE(query->Check().ok());
  CHECK(queries.running.Kill(id));
  CHECK(cuts == 1);
  query.reset();
  CHECK_FALSE(queries.running.Kill(id));
}

TEST_CASE(
    "a query whose memory the store needs ends with Busy, and a response that has begun is cut") {
  Queries queries;
  int cuts = 0;
  RequestClient client;
  client.cut = [&] { ++cuts; };
  auto query = queries.Begin(std::move(client));
  CHECK(query->GiveUp());
  const Status refused = query->Step(kManySteps);
  CHECK(refused.code() == StatusCode::kBusy);
  CHECK(refused.message().find("memory that other requests need") != std::string::npos);
  CHECK(cuts == 0);
  query->BeginAnswer();
  CHECK(query->GiveUp());
  CHECK(cuts == 1);
}

TEST_CASE(
    "with simultaneous_duplicates off, an equal query of the same address is refused while "
    "one runs") {
  Options options;
  options.simultaneous_duplicates = false;
  Queries queries(options);
  Request same, other;
  other.start = "1h-ago";
  const auto ask = [](Queries& of, const Request& query, const std::string& remote) {
    auto request = of.running.Begin("GET /api/query", From(remote));
    const Status begun = request->BecomeQuery(query, {{}, true});
    return std::pair(std::move(request), begun);
  };
  auto first = ask(queries, same, "10.0.0.1:1");
  const auto again = ask(queries, same, "10.0.0.1:2");
  CHECK(again.second.code() == StatusCode::kInvalidArgument);
  CHECK(again.second.message() == "Query is already executing for endpoint: 10.0.0.1");
  CHECK(ask(queries, same, "10.0.0.2:1").second.ok());
  CHECK(ask(queries, other, "10.0.0.1:1").second.ok());
  CHECK(ask(queries, same, "").second.ok());
  first.first.reset();
  CHECK(ask(queries, same, "10.0.0.1:2").second.ok());

  Queries tolerant;
  const auto one = ask(tolerant, same, "10.0.0.1:1");
  CHECK(ask(tolerant, same, "10.0.0.1:2").second.ok());
}

TEST_CASE("completed queries are kept once per address, newest first, and counted") {
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
  REQUIRE(completed.size() == RunningRequests::kCompletedMax);
  CHECK(completed[0]->query->start == "299");
}

TEST_CASE(
    "if any text of a query is very long, only the beginnings of its start and end are kept") {
  const std::string much(1 << 20, 'x');
  std::vector<Request> requests(9);
  for (Request& request : requests) {
    request.start = "1h-ago";
    request.queries.resize(1);
  }
  requests[0].start = much;
  requests[1].end = much;
  requests[2].timezone = much;
  requests[3].queries[0].aggregator = much;
  requests[4].queries[0].metric = much;
  requests[5].queries[0].downsample = much;
  requests[6].queries[0].rollup_usage = much;
  requests[7].queries[0].percentiles = std::vector<double>(1 << 17);
  requests[8].queries[0].filters.push_back({.type = much, .tagk = "k", .filter = "v"});
  Queries queries;
  for (const Request& query : requests) {
    auto request = queries.running.Begin("POST /api/query", {});
    REQUIRE(request->BecomeQuery(query, {}).ok());
    const auto shown = queries.running.Running()[0].query;
    CHECK(shown->queries.empty());
    CHECK(shown->start == query.start.substr(0, 64));
    CHECK(shown->end.value_or("").size() <= 64);
    CHECK_FALSE(shown->timezone);
  }
  for (const auto& completed : queries.running.Completed())
    CHECK(completed->query->queries.empty());
}

TEST_CASE("of a long query, the statistics of the first sub-queries and all totals are kept") {
  constexpr size_t kSubQueries = 4096;
  Request query;
  query.queries.resize(kSubQueries);
  QueryStats stats;
  stats.before_print_ns = 7;
  for (size_t i = 0; i < kSubQueries; ++i) {
    SubQueryStats sub;
    sub.rows_before = 1;
    sub.points_after = i;
    sub.scan_ns = static_cast<int64_t>(i);
    sub.print_ns = 2;
    sub.scan = "metric 000001, rows [1700000000, 1700010000)";
    stats.queries.push_back(sub);
  }
  Queries queries;
  auto request = queries.running.Begin("POST /api/query", {});
  REQUIRE(request->BecomeQuery(query, {}).ok());
  request->SetStats(stats);
  request.reset();
  const auto done = queries.running.Completed()[0];
  const size_t kept = done->stats.queries.size();
  CHECK(kept > 300);
  CHECK(kept * (sizeof(SubQueryStats) + stats.queries[0].scan.size()) <=
        RunningRequests::kKeptBytesMax);
  CHECK(done->stats.queries.capacity() == kept);
  CHECK(done->stats.queries[kept - 1].points_after == kept - 1);
  CHECK(done->stats.before_print_ns == 7);
  CHECK(done->totals.sub_queries == kSubQueries);
  CHECK(done->totals.sum.rows_before == kSubQueries);
  CHECK(done->totals.sum.points_after == kSubQueries * (kSubQueries - 1) / 2);
  CHECK(done->totals.sum.print_ns == 8192);
  CHECK(done->totals.most.scan_ns == 4095);
  CHECK(done->totals.most.print_ns == 2);
}

TEST_CASE("a query of a usual length is kept with all its headers and statistics") {
  constexpr size_t kSubQueries = 50;
  Request query;
  query.start = "1h-ago";
  SubQuery sub;
  sub.aggregator = "sum";
  sub.metric = "sys.cpu.user";
  sub.downsample = "1m-avg";
  sub.filters.push_back({.type = "wildcard", .tagk = "host", .filter = "*"});
  query.queries.resize(kSubQueries, sub);
  QueryDetails details;
  for (int i = 0; i < 50; ++i) details.headers.emplace_back("X-" + std::to_string(i), "value");
  QueryStats stats;
  stats.queries.resize(kSubQueries);
  for (SubQueryStats& of : stats.queries) of.scan = "metric 000001, rows [1700000000, 1700010000)";
  Queries queries;
  auto request = queries.running.Begin("POST /api/query", {});
  REQUIRE(request->BecomeQuery(query, details).ok());
  request->SetStats(stats);
  request.reset();
  const auto done = queries.running.Completed()[0];
  CHECK(*done->query == query);
  CHECK(done->headers == details.headers);
  CHECK(done->stats.queries.size() == kSubQueries);
}

TEST_CASE("a query, its headers and its statistics are kept in the memory of one query") {
  Request query;
  query.timezone = std::string(RunningRequests::kKeptBytesMax / 2, 'x');
  QueryDetails details;
  for (int i = 0; i < 2000; ++i) details.headers.emplace_back("a", "");
  QueryStats stats;
  stats.queries.resize(1000);
  Queries queries;
  auto request = queries.running.Begin("POST /api/query", {});
  REQUIRE(request->BecomeQuery(query, details).ok());
  request->SetStats(stats);
  const size_t headers = queries.running.Running()[0].headers.size();
  CHECK(headers > 100);
  CHECK(headers < 1000);
  request.reset();
  const auto done = queries.running.Completed()[0];
  CHECK(done->query->timezone == query.timezone);
  CHECK(done->headers.size() == headers);
  CHECK(query.timezone->size() + headers * sizeof(details.headers[0]) +
            done->stats.queries.size() * sizeof(SubQueryStats) <=
        RunningRequests::kKeptBytesMax);
}

TEST_CASE("running requests are listed from any id on, in the order in which they began") {
  Queries queries;
  std::vector<std::unique_ptr<RunningRequest>> requests;
  for (int i = 0; i < 12; ++i) requests.push_back(queries.running.Begin("GET /api/suggest", {}));
  requests.erase(requests.begin() + 4);
  const auto ids = [&](uint64_t after, size_t count_max) {
    std::vector<uint64_t> out;
    for (const auto& info : queries.running.Running(after, count_max)) out.push_back(info.id);
    return out;
  };
  CHECK(ids(0, 3) == std::vector<uint64_t>{1, 2, 3});
  CHECK(ids(4, 2) == std::vector<uint64_t>{6, 7});
  CHECK(ids(10, 9) == std::vector<uint64_t>{11, 12});
  CHECK(ids(12, 9).empty());
}

TEST_CASE("a query counts the queries that still run when it ends, without other requests") {
  Queries queries;
  auto first = queries.Begin(), second = queries.Begin(), third = queries.Begin();
  const auto other = queries.running.Begin("GET /api/suggest", {});
  const auto still_running = [&] { return queries.running.Completed()[0]->still_running; };
  first.reset();
  CHECK(still_running() == 2);
  second->Withdraw();
  second.reset();
  third.reset();
  CHECK(still_running() == 0);
}

TEST_CASE("a request other than a query is listed and can be ended, and is not remembered") {
  Queries queries;
  int cuts = 0;
  RequestClient client;
  client.remote = "10.0.0.1:1";
  client.cut = [&] { ++cuts; };
  auto request = queries.running.Begin("GET /api/suggest", std::move(client));
  const auto running = queries.running.Running();
  REQUIRE(running.size() == 1);
  CHECK(running[0].endpoint == "GET /api/suggest");
  CHECK(running[0].query == nullptr);
  CHECK(running[0].remote == "10.0.0.1:1");
  CHECK(queries.running.Kill(running[0].id));
  CHECK(cuts == 1);
  CHECK(request->Step(kManySteps).code() == StatusCode::kDeadlineExceeded);
  request.reset();
  CHECK(queries.running.Running().empty());
  CHECK(queries.running.Completed().empty());
}

TEST_CASE("a server that stops ends running and new requests") {
  Queries queries;
  auto running = queries.Begin();
  CHECK(running->Check().ok());
  queries.running.EndAll();
  CHECK(running->Check().code() == StatusCode::kBusy);
  CHECK(queries.Begin()->Step(kManySteps).code() == StatusCode::kBusy);
}

TEST_CASE("listeners are called at the end of a query with duration, memory and outcome") {
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
  CHECK(queries.running.Running()[1].phase == RequestPhase::kWaiting);
  CHECK(queries.Begin()->Step(kManySteps / 4).ok());  // a small query

  first->BeginAnswer();  // the first query gives up its place among the large queries
  waits.join();
  CHECK(went.ok());
  CHECK(queries.running.large_queries().working() == 1);
  second.reset();
  CHECK(queries.running.large_queries().working() == 0);
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
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
  CHECK(first->Check().ok());  // nothing waits for the memory
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
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
  WaitUntil([&] { return queries.running.large_queries().waiting() == 1; });
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
