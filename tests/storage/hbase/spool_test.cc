// Writes that wait for HBase: nothing acknowledged is lost, and nothing older comes over something
// newer, wherever the process or the power goes.

#include "storage/hbase/spool.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <thread>
#include <vector>

#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg::hbase {
namespace {

/// What HBase has: one cell a row.
class Cluster {
 public:
  Status Write(const SpoolRecord& record) {
    const std::lock_guard lock(mutex_);
    if (away_) return Status::Unavailable("away");
    for (const RowMutation& row : record.rows) {
      cells_[row.key] = row.changes[0].value;
      history_.push_back(row.changes[0].value);
    }
    return {};
  }
  void SetAway(bool away) {
    const std::lock_guard lock(mutex_);
    away_ = away;
  }
  bool away() {
    const std::lock_guard lock(mutex_);
    return away_;
  }
  std::map<Bytes, Bytes> cells() {
    const std::lock_guard lock(mutex_);
    return cells_;
  }
  std::vector<Bytes> history() {
    const std::lock_guard lock(mutex_);
    return history_;
  }

 private:
  std::mutex mutex_;
  bool away_ = false;
  std::map<Bytes, Bytes> cells_;
  std::vector<Bytes> history_;
};

SpoolRecord Record(const Bytes& key, const Bytes& value,
                   SpoolRecord::Kind kind = SpoolRecord::Kind::kPuts) {
  return {kind, 0, "tsdb", {{key, {PutCell("t", "q", value)}}}};
}

SpoolOptions Options() {
  SpoolOptions options;
  options.folder = "/spool";
  options.tables = {"tsdb"};
  options.retry_ms = 1;
  options.file_bytes = 4096;
  options.sync_on_commit = true;
  return options;
}

/// A disk, a cluster, and the spool between them.
struct Bench {
  explicit Bench(uint64_t seed = 1) : disk(seed) {}

  std::unique_ptr<Spool> Open(const SpoolOptions& options = Options()) {
    auto opened = Spool::Open(disk, options, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    (*opened)->Start([this](const SpoolRecord& record) { return cluster.Write(record); });
    return std::move(*opened);
  }
  /// The process is killed: nothing of it reaches the disk any more.
  void Kill(std::unique_ptr<Spool> spool) {
    disk.FailAllCalls();
    spool.reset();
    disk.FailCall(0);
  }
  static void WaitEmpty(const Spool& spool) {
    while (spool.holding()) std::this_thread::yield();
  }

  FaultyFileSystem disk;
  ManualClock clock{1'700'000'000'000};
  Cluster cluster;
};

std::vector<Bytes> Numbers(int count) {
  std::vector<Bytes> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

TEST_CASE("records of a spool come back as they were") {
  SpoolRecord record = Record("key", Bytes("v\0\xFF", 3));
  record.taken_ms = 1'700'000'000'123;
  record.rows[0].changes[0].timestamp_ms = -5;
  record.rows[0].changes[0].ttl_ms = 60'000;
  record.rows.push_back({"other", {PutCell("t", "", ""), PutCell("t", "q", "w")}});
  const Bytes body = EncodeSpoolRecord(record);
  SpoolRecord back;
  REQUIRE(DecodeSpoolRecord(1, body, &back));
  CHECK(back.taken_ms == record.taken_ms);
  CHECK(back.table == "tsdb");
  REQUIRE(back.rows.size() == 2);
  CHECK(back.rows[0].key == "key");
  CHECK(back.rows[0].changes[0].value == Bytes("v\0\xFF", 3));
  CHECK(back.rows[0].changes[0].timestamp_ms == -5);
  CHECK(back.rows[0].changes[0].ttl_ms == 60'000);
  CHECK_FALSE(back.rows[1].changes[0].timestamp_ms);
  CHECK(back.rows[1].changes[1].value == "w");
  for (size_t cut = 0; cut < body.size(); ++cut) {
    CHECK_FALSE(DecodeSpoolRecord(1, ByteView(body).substr(0, cut), &back));
  }
  CHECK_FALSE(DecodeSpoolRecord(1, body + "x", &back));
  CHECK_FALSE(DecodeSpoolRecord(2, body, &back));
  CHECK_FALSE(DecodeSpoolRecord(3, body, &back));
}

TEST_CASE("what waits is written in its order when HBase is back") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  CHECK_FALSE(spool->holding());
  for (const Bytes& n : Numbers(300)) REQUIRE(spool->Hold(Record("k", n)).ok());
  CHECK(spool->holding());
  bench.clock.AdvanceMs(5000);
  const SpoolStats waiting = spool->Stats();
  CHECK(waiting.bytes > 300 * 29);
  CHECK(waiting.rows_taken == 300);
  CHECK(waiting.age_ms == 5000);
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == Numbers(300));
  const SpoolStats done = spool->Stats();
  CHECK(done.bytes == 0);
  CHECK(done.age_ms == 0);
  CHECK(done.rows_replayed == 300);
  CHECK(done.failure.empty());
}

TEST_CASE("what waits when the daemon is killed is written by the next one") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  for (const Bytes& n : Numbers(300)) REQUIRE(spool->Hold(Record("k", n)).ok());
  bench.Kill(std::move(spool));
  bench.disk.PowerCut();
  spool = bench.Open();
  CHECK(spool->holding());
  REQUIRE(spool->Hold(Record("k", "new")).ok());
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  std::vector<Bytes> all = Numbers(300);
  all.push_back("new");
  CHECK(bench.cluster.history() == all);
}

TEST_CASE("what was written is not written again over what came later") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "old")).ok());
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  REQUIRE(bench.cluster.Write(Record("k", "newer")).ok());
  bench.Kill(std::move(spool));
  bench.disk.PowerCut();
  spool = bench.Open();
  CHECK_FALSE(spool->holding());
  spool.reset();
  CHECK(bench.cluster.cells()["k"] == "newer");
}

TEST_CASE("a clean stop keeps what waits") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "1")).ok());
  CHECK(spool->Stop().ok());
  CHECK(spool->Hold(Record("k", "2")).code() == StatusCode::kUnavailable);
  spool.reset();
  spool = bench.Open();
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == std::vector<Bytes>{"1"});
}

TEST_CASE("appends are sent one by one, in their place among the puts") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "put")).ok());
  REQUIRE(spool->Hold(Record("k", "appended", SpoolRecord::Kind::kAppend)).ok());
  REQUIRE(spool->Hold(Record("k", "more", SpoolRecord::Kind::kAppend)).ok());
  REQUIRE(spool->Hold(Record("k", "last")).ok());
  CHECK(spool->Stop().ok());
  std::vector<std::pair<SpoolRecord::Kind, size_t>> sent;
  auto opened = Spool::Open(bench.disk, Options(), bench.clock);
  CHECK(opened.status().code() == StatusCode::kBusy);
  spool.reset();
  opened = Spool::Open(bench.disk, Options(), bench.clock);
  REQUIRE(opened.ok());
  (*opened)->Start([&](const SpoolRecord& record) {
    sent.emplace_back(record.kind, record.rows.size());
    return Status();
  });
  Bench::WaitEmpty(**opened);
  using Kind = SpoolRecord::Kind;
  CHECK(sent == std::vector<std::pair<Kind, size_t>>{
                    {Kind::kPuts, 1}, {Kind::kAppend, 1}, {Kind::kAppend, 1}, {Kind::kPuts, 1}});
}

TEST_CASE("a spool that is full refuses, and takes again when there is room") {
  Bench bench;
  bench.cluster.SetAway(true);
  SpoolOptions options = Options();
  options.bytes_max = 2000;
  auto spool = bench.Open(options);
  Status status;
  int taken = 0;
  while ((status = spool->Hold(Record("k", std::to_string(taken)))).ok()) ++taken;
  CHECK(status.code() == StatusCode::kBusy);
  CHECK(status.message().find("full") != std::string_view::npos);
  CHECK(spool->Stats().rows_refused == 1);
  CHECK(spool->Stats().bytes <= 2000 + 29);
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == Numbers(taken));
  bench.cluster.SetAway(true);
  CHECK(spool->Hold(Record("k", "again")).ok());
}

TEST_CASE("its statistics say why HBase does not take what waits") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "1")).ok());
  while (spool->Stats().failure.empty()) std::this_thread::yield();
  CHECK(spool->Stats().failure.find("away") != std::string::npos);
}

TEST_CASE("a mark that is damaged is refused by name") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "1")).ok());
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  spool.reset();
  bench.disk.FlipBit("/spool/REPLAYED", 3, 1);
  const Status refused = Spool::Open(bench.disk, Options(), bench.clock).status();
  CHECK(refused.code() == StatusCode::kCorruption);
  CHECK(refused.message().find("/spool/REPLAYED") != std::string_view::npos);
}

/// Writes to HBase, or to the spool when it is away, as the store does; dies at the nth change of
/// the disk. What each cell may be afterwards.
std::map<Bytes, std::set<Bytes>> WriteUntilDeath(Bench* bench, uint64_t dies_at) {
  auto spool = bench->Open();
  bench->disk.DieAtCall(dies_at);
  std::map<Bytes, std::set<Bytes>> may_be;
  for (int i = 0; i < 60; ++i) {
    if (i % 20 == 5) bench->cluster.SetAway(true);
    if (i % 20 == 12) bench->cluster.SetAway(false);
    // The second stretch is over before the next write.
    if (i == 37) {
      while (spool->holding() && !bench->disk.failed()) std::this_thread::yield();
    }
    const SpoolRecord record = Record("k" + std::to_string(i % 3), std::to_string(i));
    Status status = spool->holding() ? Status::Unavailable("") : bench->cluster.Write(record);
    if (!status.ok()) status = spool->Hold(record);
    std::set<Bytes>& values = may_be[record.rows[0].key];
    if (status.ok()) {
      values.clear();
    } else if (values.empty()) {
      values.insert("");
    }
    values.insert(std::to_string(i));
  }
  spool.reset();
  return may_be;
}

TEST_CASE("wherever the process dies nothing acknowledged is lost or overwritten by older") {
  for (const bool power : {false, true}) {
    for (uint64_t dies_at = 1;; ++dies_at) {
      CAPTURE(power);
      CAPTURE(dies_at);
      Bench bench(dies_at);
      const auto may_be = WriteUntilDeath(&bench, dies_at);
      const bool died = bench.disk.failed();
      bench.disk.FailCall(0);
      if (power) bench.disk.PowerCut();
      bench.cluster.SetAway(false);
      auto spool = bench.Open();
      Bench::WaitEmpty(*spool);
      auto cells = bench.cluster.cells();
      for (const auto& [key, values] : may_be) {
        CAPTURE(key);
        CAPTURE(cells[key]);
        CHECK(values.contains(cells[key]));
      }
      if (!died) break;
      REQUIRE(dies_at < 10'000);
    }
  }
}

}  // namespace
}  // namespace hg::hbase
