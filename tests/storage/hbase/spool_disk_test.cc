// The spool on a disk that fails and recovers: the spool recovers by itself, and acknowledged
// writes are stored.

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/storage/hbase/spool_bed.h"

namespace hg::hbase {
namespace {

constexpr int kRows = 40;

// Like a client that retries. Returns whether the write was finally accepted.
bool HoldAtLast(Spool* spool, const SpoolRecord& record) {
  for (int tries = 0; tries < 20'000; ++tries) {
    if (spool->Hold(record).ok()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void CheckAll(Bench* bench) {
  const auto cells = bench->cluster.cells();
  for (int i = 0; i < kRows; ++i) {
    const std::string n = std::to_string(i);
    CAPTURE(n);
    const auto cell = cells.find("k" + n);
    REQUIRE(cell != cells.end());
    CHECK(cell->second == n);
  }
}

TEST_CASE("after a failing disk call writes are accepted again, and none is lost") {
  for (const bool synced : {true, false}) {
    for (uint64_t fails_at = 1;; ++fails_at) {
      CAPTURE(synced);
      CAPTURE(fails_at);
      Bench bench(fails_at);
      bench.cluster.SetAway(true);
      SpoolOptions options = Options();
      options.file_bytes = 400;  // about ten files
      options.sync_on_commit = synced;
      auto spool = bench.Open(options);
      bench.disk.FailCall(fails_at);
      for (int i = 0; i < kRows; ++i) {
        const std::string n = std::to_string(i);
        REQUIRE(HoldAtLast(spool.get(), Record("k" + n, n)));
      }
      while (!spool->Sync().ok()) std::this_thread::yield();
      const bool failed = bench.disk.failed();
      if (fails_at % 2 == 0) {
        bench.Kill(std::move(spool));
        bench.disk.PowerCut();
        spool = bench.Open(options);
      }
      bench.cluster.SetAway(false);
      Bench::WaitEmpty(*spool);
      CheckAll(&bench);
      if (!failed) break;
      REQUIRE(fails_at < 10'000);
    }
  }
}

TEST_CASE("after a sync that fails while nothing waits, one write is refused") {
  Bench bench;
  SpoolOptions options = Options();
  options.sync_on_commit = false;
  auto spool = bench.Open(options);
  do {
    bench.disk.FailCall(0);
    REQUIRE(spool->Hold(Record("a", "1")).ok());
    Bench::WaitEmpty(*spool);
    bench.disk.FailCall(1);
    // Repeated if everything was synced in the background, or if the failed call was not a sync.
  } while (spool->Sync().ok() || spool->Hold(Record("b", "1")).ok());
  REQUIRE(HoldAtLast(spool.get(), Record("b", "2")));
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.cells()["b"] == "2");
  CHECK(spool->Stats().failure.empty());
}

TEST_CASE("the row that HBase does not accept now is reported with its key and the duration") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  std::vector<RowMutation> rows;
  for (const Bytes& n : Numbers(100)) rows.push_back({"k" + n, {PutCell("t", "q", n)}});
  REQUIRE(spool->Hold({SpoolRecord::Kind::kPuts, 0, "tsdb", rows}).ok());
  bench.cluster.AnswerFrom("k70", Status::Busy("region too busy"));
  bench.cluster.SetAway(false);
  const std::string name = "row " + ToHex("k70") + " of table tsdb: ";
  while (spool->Stats().failure.find(name) == std::string::npos) std::this_thread::yield();
  CHECK(spool->Stats().failure.find("region too busy") != std::string::npos);
  CHECK(bench.cluster.history() == Numbers(70));
  bench.clock.AdvanceMs(7000);
  CHECK(spool->Stats().stuck_ms >= 7000);
  bench.cluster.AnswerFrom("", {});
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == Numbers(100));
  CHECK(spool->Stats().stuck_ms == 0);
}

}  // namespace
}  // namespace hg::hbase
