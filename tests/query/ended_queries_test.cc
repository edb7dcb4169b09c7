#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/query/running_requests_fixture.h"

namespace hg::query {

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

}  // namespace hg::query
