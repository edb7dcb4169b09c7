#include "storage/base/worker_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <thread>

namespace hg {
namespace {

template <typename Condition>
void WaitUntil(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("accepted jobs run before the pool ends, and later ones are refused") {
  std::atomic<int> done{0};
  WorkerPool pool(2, 100);
  for (int i = 0; i < 50; ++i) REQUIRE(pool.Post([&](WorkerPool::Turn&) { ++done; }));
  pool.Join();
  CHECK(done == 50);
  CHECK_FALSE(pool.Post([](WorkerPool::Turn&) {}));
}

TEST_CASE("jobs beyond the queue limit are refused") {
  std::atomic<bool> go_on{false}, begun{false};
  WorkerPool pool(1, 2);
  REQUIRE(pool.Post([&](WorkerPool::Turn&) {
    begun = true;
    WaitUntil([&] { return go_on.load(); });
  }));
  WaitUntil([&] { return begun.load(); });
  CHECK(pool.Post([](WorkerPool::Turn&) {}));
  CHECK(pool.Post([](WorkerPool::Turn&) {}));
  CHECK_FALSE(pool.Post([](WorkerPool::Turn&) {}));
  go_on = true;
}

TEST_CASE("an exception of a job ends only that job") {
  std::atomic<int> done{0};
  WorkerPool pool(1, 100);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pool.Post([i](WorkerPool::Turn& turn) {
      if (i % 2 == 0) turn.GiveWay();
      throw std::bad_alloc();
    }));
    REQUIRE(pool.Post([&](WorkerPool::Turn&) { ++done; }));
  }
  pool.Join();
  CHECK(done == 4);
}

TEST_CASE("a job that gives way does not delay the jobs after it") {
  std::atomic<bool> go_on{false};
  std::atomic<int> done{0};
  WorkerPool pool(1, 100);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(pool.Post([&](WorkerPool::Turn& turn) {
      turn.GiveWay();
      turn.GiveWay();
      WaitUntil([&] { return go_on.load(); });
      ++done;
    }));
  }
  REQUIRE(pool.Post([&](WorkerPool::Turn&) { go_on = true; }));
  WaitUntil([&] { return done == 5; });
  REQUIRE(pool.Post([&](WorkerPool::Turn&) { ++done; }));
  pool.Join();
  CHECK(done == 6);
}

TEST_CASE("the number of threads is unchanged after jobs that gave way") {
  WorkerPool pool(1, 100);
  std::atomic<int> together{0}, most{0};
  for (int i = 0; i < 50; ++i) {
    REQUIRE(pool.Post([](WorkerPool::Turn& turn) { turn.GiveWay(); }));
    REQUIRE(pool.Post([&](WorkerPool::Turn&) {
      const int now = ++together;
      int before = most;
      while (now > before && !most.compare_exchange_weak(before, now)) {
      }
      std::this_thread::yield();
      --together;
    }));
  }
  pool.Join();
  CHECK(most == 1);
}

}  // namespace hg
