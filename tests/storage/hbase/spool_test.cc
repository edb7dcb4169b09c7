// Writes that wait for HBase: nothing acknowledged is lost, and nothing older overwrites something
// newer, wherever the process ends or the power fails.

#include "storage/hbase/spool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "tests/storage/hbase/spool_bed.h"

namespace hg::hbase {
namespace {

TEST_CASE("records of a spool are decoded as they were encoded") {
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

TEST_CASE("waiting writes are replayed in order when HBase is back") {
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

TEST_CASE("waiting writes of a killed daemon are replayed by the next one") {
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

TEST_CASE("replayed writes are not replayed again over later writes") {
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

TEST_CASE("a clean stop keeps waiting writes") {
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

TEST_CASE("appends are sent one by one, in their order among the puts") {
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
    return std::vector<Status>(record.rows.size());
  });
  Bench::WaitEmpty(**opened);
  using Kind = SpoolRecord::Kind;
  CHECK(sent == std::vector<std::pair<Kind, size_t>>{
                    {Kind::kPuts, 1}, {Kind::kAppend, 1}, {Kind::kAppend, 1}, {Kind::kPuts, 1}});
}

TEST_CASE("a full spool refuses writes, and accepts them again when there is space") {
  Bench bench;
  bench.cluster.SetAway(true);
  SpoolOptions options = Options();
  options.bytes_max = 2000;
  auto spool = bench.Open(options);
  CHECK(spool->Room().ok());
  Status status;
  int taken = 0;
  while ((status = spool->Hold(Record("k", std::to_string(taken)))).ok()) ++taken;
  CHECK(status.code() == StatusCode::kBusy);
  CHECK(status.message().find("full") != std::string_view::npos);
  CHECK(spool->Stats().rows_refused == 1);
  CHECK(spool->Stats().bytes <= 2000 + 29);
  CHECK(spool->Room().code() == StatusCode::kBusy);
  CHECK(spool->Room().message().find("full") != std::string_view::npos);
  CHECK(spool->Stats().rows_refused == 1);
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  CHECK(spool->Room().ok());
  CHECK(bench.cluster.history() == Numbers(taken));
  bench.cluster.SetAway(true);
  CHECK(spool->Hold(Record("k", "again")).ok());
}

TEST_CASE("a spool whose disk is full keeps nothing in memory") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "1")).ok());
  bench.disk.FillUpAtCall(1);
  while (spool->Hold(Record("k", Bytes(100, 'x'))).ok()) {
  }
  const uint64_t bytes = spool->Stats().bytes;
  for (int i = 0; i < 10; ++i) CHECK_FALSE(spool->Hold(Record("k", "2")).ok());
  CHECK(spool->Stats().bytes == bytes);
  bench.disk.FailCall(0);
}

TEST_CASE("the statistics have the reason why HBase does not accept waiting writes") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool->Hold(Record("k", "1")).ok());
  while (spool->Stats().failure.empty()) std::this_thread::yield();
  CHECK(spool->Stats().failure.find("away") != std::string::npos);
}

SpoolRecord Rows(std::vector<RowMutation> rows) {
  return {SpoolRecord::Kind::kPuts, 0, "tsdb", std::move(rows)};
}

TEST_CASE("a row that HBase refuses permanently is moved aside and delays nothing") {
  Bench bench;
  bench.cluster.SetAway(true);
  bench.cluster.Answer("bad\n#", Status::InvalidArgument("too\nlong"));
  SpoolOptions options = Options();
  options.refusal_patience_ms = 0;
  auto spool = bench.Open(options);
  CellChange timed = PutCell("t", Bytes("\x00\"", 2), "v1");
  timed.timestamp_ms = 17;
  timed.ttl_ms = 60'000;
  REQUIRE(spool->Hold(Record("a", "1")).ok());
  REQUIRE(spool
              ->Hold(Rows({{"b", {PutCell("t", "q", "2")}},
                           {"bad\n#", {timed, PutCell("t", "q", "v2")}},
                           {"c", {PutCell("t", "q", "3")}}}))
              .ok());
  REQUIRE(spool->Hold(Record("bad\n#", "v3", SpoolRecord::Kind::kAppend)).ok());
  REQUIRE(spool->Hold(Record("d", "4")).ok());
  bench.cluster.SetAway(false);
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == std::vector<Bytes>{"1", "2", "3", "4"});
  const SpoolStats stats = spool->Stats();
  CHECK(stats.rows_set_aside == 2);
  CHECK(stats.rows_replayed == 4);
  CHECK(stats.bytes == 0);
  CHECK(stats.failure.empty());
  std::string text;
  const auto names = bench.disk.List("/spool");
  for (const std::string& name : *names) {
    if (!name.starts_with("REFUSED-")) continue;
    CHECK(stats.set_aside.find("/spool/REFUSED-") != std::string::npos);
    text += *ReadWholeFile(bench.disk, "/spool/" + name);
  }
  const std::string why = "# taken at 1700000000000 ms: invalid argument: too long\n";
  CHECK(text == why +
                    R"(put "tsdb", "bad\x0A\x23", "t:\x00\x22", "v1", 17, {TTL => 60000})"
                    "\n"
                    R"(put "tsdb", "bad\x0A\x23", "t:q", "v2")"
                    "\n" +
                    why +
                    R"(append "tsdb", "bad\x0A\x23", "t:q", "v3")"
                    "\n");
}

TEST_CASE("rows that HBase refuses temporarily are sent again on their own") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  REQUIRE(spool
              ->Hold(Rows({{"a", {PutCell("t", "q", "1")}},
                           {"stuck", {PutCell("t", "q", "2")}},
                           {"b", {PutCell("t", "q", "3")}}}))
              .ok());
  bench.cluster.Answer("stuck", Status::Busy("region"));
  bench.cluster.SetAway(false);
  while (bench.cluster.history().size() < 2 ||
         spool->Stats().failure.find("region") == std::string::npos) {
    std::this_thread::yield();
  }
  bench.cluster.Answer("stuck", {});
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == std::vector<Bytes>{"1", "3", "2"});
  CHECK(spool->Stats().rows_replayed == 3);
  CHECK(spool->Stats().rows_set_aside == 0);
}

TEST_CASE("before rows are moved aside, their table has some time to come back") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  for (const char* key : {"k", "l"}) REQUIRE(spool->Hold(Record(key, key)).ok());
  for (const char* key : {"k", "l"}) bench.cluster.Answer(key, Status::NotFound("no such table"));
  bench.cluster.SetAway(false);
  while (spool->Stats().failure.find("no such table") == std::string::npos) {
    std::this_thread::yield();
  }
  bench.clock.AdvanceMs(Options().refusal_patience_ms - 1);
  CHECK(spool->Stats().rows_set_aside == 0);
  bench.clock.AdvanceMs(1);
  Bench::WaitEmpty(*spool);
  CHECK(spool->Stats().rows_set_aside == 2);
}

TEST_CASE("a damaged file is kept together with the later files, and reported") {
  Bench bench;
  bench.cluster.SetAway(true);
  auto spool = bench.Open();
  for (const Bytes& n : Numbers(300)) REQUIRE(spool->Hold(Record("k", n)).ok());
  // All of the first file may have been read already.
  const auto names = bench.disk.List("/spool");
  std::vector<std::string> logs;
  for (const std::string& name : *names) {
    uint64_t number;
    if (lsm::ParseLogFileName(name, &number)) logs.push_back("/spool/" + name);
  }
  REQUIRE(logs.size() > 3);
  // A byte of the first record. Each retry of a replay begins a file, so files may be short.
  constexpr uint64_t kDamaged = lsm::kLogFileHeaderBytes + lsm::kLogRecordHeaderBytes;
  bench.disk.FlipBit(logs[2], kDamaged, 3);
  bench.cluster.SetAway(false);
  while (spool->Stats().failure.find(logs[2] + " is damaged") == std::string::npos) {
    std::this_thread::yield();
  }
  CHECK(spool->holding());
  const size_t sent = bench.cluster.history().size();
  bench.disk.FlipBit(logs[2], kDamaged, 3);
  Bench::WaitEmpty(*spool);
  CHECK(sent < 300);
  CHECK(bench.cluster.history() == Numbers(300));
}

TEST_CASE("a start without the newest log file is refused, with the file in the error") {
  for (const bool emptied : {false, true}) {
    Bench bench;
    bench.cluster.SetAway(true);
    auto spool = bench.Open();
    REQUIRE(spool->Hold(Record("k", "1")).ok());
    REQUIRE(spool->Stop().ok());
    spool.reset();
    std::string newest;
    const auto names = bench.disk.List("/spool");
    for (const std::string& name : *names) {
      uint64_t number;
      if (lsm::ParseLogFileName(name, &number)) newest = std::max(newest, "/spool/" + name);
    }
    REQUIRE(!newest.empty());
    REQUIRE(bench.disk.Remove(newest).ok());
    if (emptied) REQUIRE(bench.disk.Open(newest, OpenMode::kCreate).ok());
    const Status refused = Spool::Open(bench.disk, Options(), bench.clock).status();
    CHECK(refused.code() == StatusCode::kCorruption);
    CHECK(refused.message().find(newest) != std::string_view::npos);
  }
}

TEST_CASE("a damaged file REPLAYED is refused, and the error names it") {
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

/// Writes to HBase, or to the spool while HBase is unreachable, as the store does. The process dies
/// at the nth change of the disk. Returns the values that each cell may have afterwards.
std::map<Bytes, std::set<Bytes>> WriteUntilDeath(Bench* bench, uint64_t dies_at) {
  auto spool = bench->Open();
  bench->disk.DieAtCall(dies_at);
  std::map<Bytes, std::set<Bytes>> may_be;
  for (int i = 0; i < 60; ++i) {
    if (i % 20 == 5) bench->cluster.SetAway(true);
    if (i % 20 == 12) bench->cluster.SetAway(false);
    // The second period has ended before the next write.
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

TEST_CASE(
    "wherever the process ends, nothing acknowledged is lost or overwritten by older writes") {
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

TEST_CASE("running out of memory during replay is reported, and the writes are replayed later") {
  Bench bench;
  auto spool = *Spool::Open(bench.disk, Options(), bench.clock);
  std::atomic<bool> starves = true;
  spool->Start([&](const SpoolRecord& record) {
    if (starves) throw std::bad_alloc();
    return bench.cluster.WriteRows(record);
  });
  for (const Bytes& n : Numbers(300)) REQUIRE(spool->Hold(Record("k", n)).ok());
  while (spool->Stats().failure.find("broken off") == std::string::npos) std::this_thread::yield();
  starves = false;
  Bench::WaitEmpty(*spool);
  CHECK(bench.cluster.history() == Numbers(300));
  CHECK(spool->Stats().failure.empty());
}

}  // namespace
}  // namespace hg::hbase
