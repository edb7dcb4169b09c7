#include "tsd/query_log.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "tests/support/manual_clock.h"
#include "tsd/log.h"
#include "tsd/log_line.h"

namespace hg::tsd {
namespace {

query::CompletedQuery Ended(int64_t took_ms, Status failure = {}) {
  query::CompletedQuery out;
  auto request = std::make_shared<query::Request>();
  request->start = "1h-ago";
  out.query = std::move(request);
  out.remote = "10.0.0.9:51000";
  out.elapsed_ns = took_ms * 1'000'000;
  out.memory_most_bytes = 4 << 10;
  out.end.failure = std::move(failure);
  return out;
}

/// Returns the logged event as a line of text; "" = no event.
std::string Text(const query::CompletedQuery& query, int64_t slow_ms) {
  const auto entry = LogEntryOf(query, slow_ms);
  if (!entry) return "";
  return LogText({LogLevel::kWarning, 0, 0, "", entry->message, entry->fields});
}

}  // namespace

TEST_CASE("a slow query is logged with duration, client and text, a fast one is not") {
  CHECK(Text(Ended(100), 100) ==
        "slow query id=0 remote=10.0.0.9:51000 duration_ms=100 memory_kb=4 "
        "query=\"start=1h-ago\"");
  CHECK_FALSE(LogEntryOf(Ended(99), 100));
  CHECK_FALSE(LogEntryOf(Ended(1'000'000), 0));
}

TEST_CASE("a refused query is logged with the exceeded limit, however fast it was") {
  CHECK(Text(Ended(1, Status::LimitExceeded("more than 10 MB")), 0) ==
        "query ended early id=0 remote=10.0.0.9:51000 duration_ms=1 memory_kb=4 "
        "query=\"start=1h-ago\" error=\"limit exceeded: more than 10 MB\"");
  CHECK(LogEntryOf(Ended(1, Status::Busy("too much")), 0));
  CHECK(LogEntryOf(Ended(1, Status::DeadlineExceeded("timed out")), 0));
  CHECK_FALSE(LogEntryOf(Ended(1, Status::NotFound("No such name")), 0));
}

TEST_CASE("a query whose client has gone is not logged as refused") {
  query::CompletedQuery query = Ended(1, Status::DeadlineExceeded("gone"));
  query.client_gone = true;
  CHECK_FALSE(LogEntryOf(query, 100));
  query.elapsed_ns = 200'000'000;
  CHECK(LogEntryOf(query, 100));
}

TEST_CASE("of many rejected queries only some are logged, and each slow one") {
  ManualClock clock{1700000000000};
  QueryLog log(clock, 100);
  const size_t before = RecentLogLines().size();
  const auto logged = [&] { return RecentLogLines().size() - before; };
  for (int i = 0; i < 50; ++i) log.Ended(Ended(1, Status::Busy("too much")));
  CHECK(logged() == 20);
  for (int i = 0; i < 5; ++i) log.Ended(Ended(100, Status::Busy("too much")));
  CHECK(logged() == 25);
  clock.AdvanceMs(1000);
  log.Ended(Ended(1, Status::Busy("too much")));
  log.Ended(Ended(1, Status::Busy("too much")));
  CHECK(logged() == 26);
  CHECK(RecentLogLines().at(0).ends_with(" untold=30"));
}

}  // namespace hg::tsd
