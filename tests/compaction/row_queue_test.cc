#include "compaction/row_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <thread>

#include "tests/compaction/old_rows.h"
#include "tests/fault/starve.h"
#include "tests/support/away_store.h"
#include "tests/support/hex.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg::compaction {
namespace {

/// Writes rows of two points each and reports them to the queue.
struct QueueRig {
  explicit QueueRig(RowQueueOptions options = {}) : queue(&compactor, options, clock) {
    REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
  }

  void Write(int count, uint32_t base = kBase) {
    for (int series = 1; series <= count; ++series) {
      const Bytes key = Key(series, base);
      RowMutation row{key,
                      {PutCell("t", Hex("0000"), Hex("2A")), PutCell("t", Hex("0010"), Hex("18"))}};
      REQUIRE(store.Mutate("tsdb", {row}).ok());
      queue.Written(key, base);
      queue.Written(key, base);
    }
  }
  /// Runs a round and returns the compacted rows.
  size_t Round() {
    const size_t rows = queue.Round();
    compactor.Drain();
    return rows;
  }

  ManualClock clock{kOldMs};
  ModelStore store{clock};
  RowCompactor compactor{&store, {}, clock};
  RowQueue queue;
};

TEST_CASE("written rows are compacted once their hour is over, each row once") {
  QueueRig rig;
  rig.clock.SetMs(kOldMs - 1000);
  rig.Write(101);
  CHECK(rig.queue.Stats().rows == 101);
  CHECK(rig.Round() == 0);
  rig.clock.SetMs(kOldMs);
  CHECK(rig.Round() == 100);
  CHECK(rig.compactor.Stats().rewritten == 100);
  CHECK(rig.queue.Stats().rows == 1);
  size_t folded = 0;
  for (int series = 1; series <= 101; ++series) {
    const auto row = rig.store.Get("tsdb", Key(series), "t");
    REQUIRE(row.ok());
    if (row->cells.size() > 1) continue;
    CHECK(ToHexUpper(row->cells[0].qualifier) == "00000010");
    CHECK(ToHexUpper(row->cells[0].value) == "2A1800");
    ++folded;
  }
  CHECK(folded == 100);
}

TEST_CASE("a few rows wait until there are more") {
  QueueRig rig;
  rig.Write(100);
  CHECK(rig.Round() == 0);
  rig.Write(1, kBase - 3600);
  CHECK(rig.Round() == 100);
}

TEST_CASE("the rows of an hour are compacted evenly over half of the next hour") {
  RowQueueOptions options;
  options.min_flush_threshold = 1;
  QueueRig rig(options);
  rig.Write(1800);
  // 1800 rows · 10 s · 2 / 3600 s.
  CHECK(rig.Round() == 10);
  options.max_concurrent_flushes = 7;
  QueueRig fewer(options);
  fewer.Write(1800);
  CHECK(fewer.Round() == 7);
}

TEST_CASE("the oldest hours are compacted first, and the current hour waits") {
  RowQueueOptions options;
  options.min_flush_threshold = 2;
  QueueRig rig(options);
  rig.Write(2, kBase + 3600);
  rig.Write(2, kBase - 3600);
  rig.Write(1, kBase);
  CHECK(rig.Round() == 2);
  CHECK(rig.store.Get("tsdb", Key(1, kBase - 3600), "t")->cells.size() == 1);
  CHECK(rig.store.Get("tsdb", Key(2, kBase - 3600), "t")->cells.size() == 1);
  CHECK(rig.Round() == 1);
  CHECK(rig.Round() == 0);
  CHECK(rig.store.Get("tsdb", Key(1, kBase + 3600), "t")->cells.size() == 2);
}

TEST_CASE(
    "a round does not start while rows of the previous one wait, or while the store is "
    "unreachable") {
  AwayStore away;
  const ManualClock clock{kOldMs};
  RowCompactor compactor(&away, {}, clock);
  RowQueueOptions options;
  options.min_flush_threshold = 1;
  RowQueue queue(&compactor, options, clock);
  for (int series = 1; series <= 9; ++series) queue.Written(Key(series), kBase);
  CHECK(queue.Round() == 1);
  CHECK(queue.Round() == 0);
  compactor.Drain();
  REQUIRE(compactor.Stats().failed_reads == 1);
  CHECK(queue.Round() == 0);
  CHECK(queue.Round() == 1);
}

TEST_CASE("rows are not compacted before their pending writes have reached the store") {
  QueueRig rig;
  bool on_their_way = true;
  rig.queue.PauseWhile([&] { return on_their_way; });
  rig.Write(101);
  CHECK(rig.Round() == 0);
  CHECK(rig.store.Get("tsdb", Key(1), "t")->cells.size() == 2);
  on_their_way = false;
  CHECK(rig.Round() == 100);
}

TEST_CASE("a stop ends the rounds") {
  QueueRig rig;
  rig.queue.Start();
  rig.queue.Stop();
  rig.queue.Stop();
  CHECK(rig.queue.Stats().rows == 0);
}

TEST_CASE("a round that fails at any allocation does not lose count of a row") {
  RowQueueOptions options;
  options.min_flush_threshold = 10;
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    QueueRig rig(options);
    rig.Write(20);
    (void)Starve(n, &failed, [&] {
      (void)rig.queue.Round();
      return Status();
    });
    const RowQueueStats queue = rig.queue.Stats();
    const RowCompactorStats compactor = rig.compactor.Stats();
    CHECK(queue.rows + queue.dropped + compactor.queued + compactor.dropped == 20);
  }
}

TEST_CASE("later rounds run after a round that failed for lack of memory") {
  RowQueueOptions options;
  options.flush_interval_s = 0;
  QueueRig rig(options);
  std::atomic<int> rounds{0};
  rig.queue.PauseWhile([&]() -> bool {
    if (++rounds == 1) throw std::bad_alloc();
    return true;
  });
  rig.queue.Start();
  while (rounds < 2) std::this_thread::yield();
  rig.queue.Stop();
}

}  // namespace
}  // namespace hg::compaction
