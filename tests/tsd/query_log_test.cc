#include "tsd/query_log.h"

#include <doctest/doctest.h>

#include <memory>

namespace hg::tsd {
namespace {

query::CompletedQuery Ended(int64_t took_ms, Status failure = {}) {
  query::CompletedQuery out;
  auto request = std::make_shared<query::Request>();
  request->start = "1h-ago";
  out.request = std::move(request);
  out.remote = "10.0.0.9:51000";
  out.elapsed_ns = took_ms * 1'000'000;
  out.memory_most_bytes = 4 << 10;
  out.end.failure = std::move(failure);
  return out;
}

}  // namespace

TEST_CASE("a slow query is logged with duration, client and text, a fast one is not") {
  CHECK(QueryLogLine(Ended(100), 100) ==
        "slow query: 100 ms, at most 4 KB, of 10.0.0.9:51000: start=1h-ago");
  CHECK_FALSE(QueryLogLine(Ended(99), 100));
  CHECK_FALSE(QueryLogLine(Ended(1'000'000), 0));
}

TEST_CASE("a refused query is logged with what was exceeded, however fast it was") {
  CHECK(QueryLogLine(Ended(1, Status::LimitExceeded("more than 10 MB")), 0) ==
        "query ended early: 1 ms, at most 4 KB, of 10.0.0.9:51000: start=1h-ago: limit exceeded: "
        "more than 10 MB");
  CHECK(QueryLogLine(Ended(1, Status::Busy("too much")), 0));
  CHECK(QueryLogLine(Ended(1, Status::DeadlineExceeded("timed out")), 0));
  CHECK_FALSE(QueryLogLine(Ended(1, Status::NotFound("No such name")), 0));
}

TEST_CASE("a client that has gone is no refusal") {
  query::CompletedQuery query = Ended(1, Status::DeadlineExceeded("gone"));
  query.client_gone = true;
  CHECK_FALSE(QueryLogLine(query, 100));
  query.elapsed_ns = 200'000'000;
  CHECK(QueryLogLine(query, 100));
}

}  // namespace hg::tsd
