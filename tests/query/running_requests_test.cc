#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/query/running_requests_fixture.h"

namespace hg::query {

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

}  // namespace hg::query
