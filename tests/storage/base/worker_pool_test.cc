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

TEST_CASE("jobs that gave way take the next jobs, on no more threads than twice the pool's") {
  static std::atomic<int> threads;
  struct OfThread {
    OfThread() { ++threads; }
  };
  threads = 0;
  WorkerPool pool(2, 100);
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i) {
    REQUIRE(pool.Post([&](WorkerPool::Turn& turn) {
      thread_local OfThread of_thread;
      (void)of_thread;
      turn.GiveWay();
      ++done;
    }));
    WaitUntil([&] { return done == i + 1; });
  }
  CHECK(threads <= 4);
}

TEST_CASE("as many jobs run at the same time after jobs gave way as before") {
  WorkerPool pool(2, 100);
  std::atomic<int> gave_way{0}, ended{0};
  std::atomic<bool> go_on{false};
  for (int i = 0; i < 6; ++i) {
    REQUIRE(pool.Post([&](WorkerPool::Turn& turn) {
      turn.GiveWay();
      ++gave_way;
      WaitUntil([&] { return go_on.load(); });
      ++ended;
    }));
  }
  const auto run_two_together = [&pool] {
    std::atomic<int> together{0}, done{0};
    for (int i = 0; i < 2; ++i) {
      REQUIRE(pool.Post([&](WorkerPool::Turn&) {
        ++together;
        WaitUntil([&] { return together == 2; });
        ++done;
      }));
    }
    WaitUntil([&] { return done == 2; });
  };
  WaitUntil([&] { return gave_way == 6; });
  run_two_together();
  go_on = true;
  WaitUntil([&] { return ended == 6; });
  run_two_together();
}

TEST_CASE("no more jobs run at the same time after jobs gave way than before") {
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
