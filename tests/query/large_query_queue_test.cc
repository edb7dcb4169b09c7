#include "query/request/large_query_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/starve.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

Status KeepWaiting() { return {}; }
Status GiveUpWaiting() { return Status::DeadlineExceeded("it would have to wait"); }

struct Rig {
  Rig() { REQUIRE(queue.Enter("a", 0, KeepWaiting).ok()); }
  const MemoryBudget memory{0};
  ManualClock clock{0};
  LargeQueryQueue queue{{.width = 1}, memory, clock};
};

/// A queue, and queries that wait in it on threads of their own. The destructor ends the waiting
/// queries.
class Waiters {
 public:
  explicit Waiters(LargeQueryQueueOptions options) : queue(options, memory, clock) {}
  ~Waiters() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  /// Starts a large query of the client. It must not have to wait.
  void Run(const std::string& client) { REQUIRE(queue.Enter(client, 0, GiveUpWaiting).ok()); }
  /// Returns the error of a large query of the client that gives up when it has to wait.
  std::string Try(const std::string& client) {
    return std::string(queue.Enter(client, 0, GiveUpWaiting).message());
  }
  /// Enters the queue on another thread. The client is the first letter of the query's name.
  void Enter(const std::string& name) {
    threads_.emplace_back([this, name] {
      const Status entered = queue.Enter(
          name.substr(0, 1), 0, [this] { return stop_ ? GiveUpWaiting() : KeepWaiting(); });
      const std::lock_guard lock(mutex_);
      ends_.push_back(entered.ok() ? name : name + ": " + std::string(entered.message()));
    });
  }
  /// Enters the queue on another thread, and returns when the query waits.
  void Wait(const std::string& name) {
    const size_t before = queue.waiting();
    Enter(name);
    while (queue.waiting() == before) std::this_thread::yield();
  }
  /// Waits until `count` queries have started or were refused. Returns their names, with the error
  /// if the query was refused.
  std::vector<std::string> Ends(size_t count) {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex_);
      if (ends_.size() >= count) return ends_;
    }
  }

 private:
  const MemoryBudget memory{0};
  ManualClock clock{0};

 public:
  LargeQueryQueue queue;

 private:
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::string> ends_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

using Names = std::vector<std::string>;

TEST_CASE_FIXTURE(Rig, "a query that throws while it waits gives up its place") {
  CHECK(queue.Enter("a", 0, []() -> Status { throw std::bad_alloc(); }).code() ==
        StatusCode::kUnavailable);
  CHECK(queue.waiting() == 0);
  CHECK(queue.working() == 1);
  queue.Leave("a");
  CHECK(queue.Enter("a", 0, KeepWaiting).ok());
}

TEST_CASE_FIXTURE(Rig, "a query that fails at any allocation gives up its place") {
  REQUIRE(queue.Enter("b", 0, GiveUpWaiting).ok());
  const auto look = [this] {
    clock.AdvanceMs(61'000);
    return Status();
  };
  const std::string client = "a client that is new to the queue";
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    CHECK_FALSE(Starve(n, &failed, [&] { return queue.Enter(client, 0, look); }));
    CHECK(queue.waiting() == 0);
    CHECK(queue.working() == 2);
  }
}

TEST_CASE("waiting queries that hold most of the memory start one after the other") {
  constexpr int kWaiting = 3;
  MemoryBudget memory{100};
  ManualClock clock{0};
  LargeQueryQueue queue{{.width = 1}, memory, clock};
  REQUIRE(queue.Enter("a", 0, KeepWaiting).ok());
  std::vector<std::thread> queries;
  std::atomic<int> started{0};
  for (int i = 0; i < kWaiting; ++i) {
    queries.emplace_back([&] {
      CHECK(memory.Take(30));
      const Status entered = queue.Enter("a", 30, [&] {
        clock.AdvanceMs(100);  // a query that never starts is refused after 60 s of this clock
        return Status();
      });
      memory.Give(30);
      if (!entered.ok()) return;
      ++started;
      queue.Leave("a");
    });
  }
  while (queue.waiting() < kWaiting) std::this_thread::yield();
  queue.Leave("a");
  for (std::thread& query : queries) query.join();
  CHECK(started == kWaiting);
  CHECK(queue.working() == 0);
}

TEST_CASE("the next large query is of the client that runs the fewest; equal ones start in order") {
  Waiters waiters({.width = 5});
  for (const char* client : {"a", "a", "b", "c", "c"}) waiters.Run(client);
  for (const char* name : {"a1", "a2", "b1", "b2"}) waiters.Wait(name);
  waiters.queue.Leave("c");  // a runs two queries, b runs one
  CHECK(waiters.Ends(1) == Names{"b1"});
  waiters.queue.Leave("c");  // both run two queries
  CHECK(waiters.Ends(2) == Names{"b1", "a1"});
  waiters.queue.Leave("b");  // a runs three queries, b runs one
  CHECK(waiters.Ends(3) == Names{"b1", "a1", "b2"});
  CHECK(waiters.queue.working() == 5);
  CHECK(waiters.queue.waiting() == 1);
}

TEST_CASE("a client that runs no large query may start one although others take all slots") {
  Waiters waiters({.width = 2});
  for (int i = 0; i < 2; ++i) waiters.Run("a");
  waiters.Wait("a1");
  CHECK(waiters.Try("b") == "");
  CHECK(waiters.Try("b") == "it would have to wait");
  CHECK(waiters.Try("c") == "");
  CHECK(waiters.queue.working() == 4);
  CHECK(waiters.Try("d") == "it would have to wait");  // twice the slots are taken
  waiters.Wait("d1");
  waiters.queue.Leave("c");
  CHECK(waiters.Ends(1) == Names{"d1"});
  waiters.queue.Leave("b");
  waiters.queue.Leave("d");
  CHECK(waiters.queue.working() == 2);
  CHECK(waiters.Try("a") == "it would have to wait");  // a takes all slots itself
  waiters.queue.Leave("a");
  CHECK(waiters.Ends(2) == Names{"d1", "a1"});
}

TEST_CASE("a client that runs no large query waits too while half of the memory is in use") {
  MemoryBudget memory{100};
  ManualClock clock{0};
  LargeQueryQueue queue{{.width = 1}, memory, clock};
  REQUIRE(queue.Enter("a", 0, GiveUpWaiting).ok());
  REQUIRE(memory.Take(51));
  CHECK_FALSE(queue.Enter("b", 0, GiveUpWaiting).ok());
  memory.Give(1);
  CHECK(queue.Enter("b", 0, GiveUpWaiting).ok());
}

TEST_CASE(
    "a client with few waiting queries takes the place of the last query of the client with most") {
  const std::string refused = "Too many large queries are waiting (3); please try again later";
  Waiters waiters({.width = 1, .waiting_max = 3});
  for (const char* client : {"x", "y"}) waiters.Run(client);  // twice the slots
  for (const char* name : {"a1", "a2", "a3"}) waiters.Wait(name);
  CHECK(waiters.Try("a") == refused);
  waiters.Enter("b1");
  CHECK(waiters.Ends(1) == Names{"a3: " + refused});
  CHECK(waiters.Try("b") == refused);  // a has two waiting queries, b has one
  waiters.Enter("c1");
  CHECK(waiters.Ends(2) == Names{"a3: " + refused, "a2: " + refused});
  for (const char* client : {"a", "b", "d"}) CHECK(waiters.Try(client) == refused);
  CHECK(waiters.queue.waiting() == 3);
  for (const char* client : {"x", "y"}) waiters.queue.Leave(client);
  const Names ends = waiters.Ends(4);  // a1 and b1 have started, in any order
  CHECK(std::set<std::string>(ends.begin() + 2, ends.end()) == std::set<std::string>{"a1", "b1"});
  CHECK(waiters.queue.waiting() == 1);
}

TEST_CASE("a query that may start at once takes no place of a waiting query") {
  Waiters waiters({.width = 1, .waiting_max = 2});
  waiters.Run("a");
  for (const char* name : {"a1", "a2"}) waiters.Wait(name);
  CHECK(waiters.Try("b") == "");
  CHECK(waiters.queue.waiting() == 2);
}

}  // namespace
}  // namespace hg::query
