#include "query/request/large_query_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "tests/fault/starve.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

struct Rig {
  Rig() {
    REQUIRE(queue.Enter(0, [] { return Status(); }).ok());
  }
  const MemoryBudget memory{0};
  ManualClock clock{0};
  LargeQueryQueue queue{{.width = 1}, memory, clock};
};

TEST_CASE_FIXTURE(Rig, "a query that throws while it waits gives up its place") {
  CHECK(queue.Enter(0, []() -> Status { throw std::bad_alloc(); }).code() ==
        StatusCode::kUnavailable);
  CHECK(queue.waiting() == 0);
  CHECK(queue.working() == 1);
  queue.Leave();
  CHECK(queue.Enter(0, [] { return Status(); }).ok());
}

TEST_CASE_FIXTURE(Rig, "a query that fails at any allocation gives up its place") {
  const auto look = [this] {
    clock.AdvanceMs(61'000);
    return Status();
  };
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    CHECK_FALSE(Starve(n, &failed, [&] { return queue.Enter(0, look); }));
    CHECK(queue.waiting() == 0);
    CHECK(queue.working() == 1);
  }
}

TEST_CASE("waiting queries that hold most of the memory start one after the other") {
  constexpr int kWaiting = 3;
  MemoryBudget memory{100};
  ManualClock clock{0};
  LargeQueryQueue queue{{.width = 1}, memory, clock};
  REQUIRE(queue.Enter(0, [] { return Status(); }).ok());
  std::vector<std::thread> queries;
  std::atomic<int> started{0};
  for (int i = 0; i < kWaiting; ++i) {
    queries.emplace_back([&] {
      CHECK(memory.Take(30));
      const Status entered = queue.Enter(30, [&] {
        clock.AdvanceMs(100);  // a query that never starts is refused after 60 s of this clock
        return Status();
      });
      memory.Give(30);
      if (!entered.ok()) return;
      ++started;
      queue.Leave();
    });
  }
  while (queue.waiting() < kWaiting) std::this_thread::yield();
  queue.Leave();
  for (std::thread& query : queries) query.join();
  CHECK(started == kWaiting);
  CHECK(queue.working() == 0);
}

}  // namespace
}  // namespace hg::query
