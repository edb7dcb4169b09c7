// The life cycle of series: a series without rows is forgotten, and comes back with its next row.
// Also run with the thread sanitizer (./test --tsan).

#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/engine/engine_check.h"
#include "storage/engine/offline_repair.h"
#include "storage/lsm/manifest.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/engine_rig.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/sanitizer.h"

namespace hg {
namespace {

constexpr int64_t kBase = 1'700'002'800;
constexpr int64_t kTtl = 7200;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.tables.push_back({"rollup", {{"t"}}, false});
  return options;
}

struct Rig : EngineRig<> {
  Rig() : EngineRig(kBase * 1000, Options()) {}
  void SetTtl() {
    TableDescriptor table = *cells->DescribeTable("tsdb");
    table.families.front().ttl_s = kTtl;
    REQUIRE(cells->AlterTable(table).ok());
  }
  SeriesNumber Register(const Bytes& tsuid) {
    auto number = points->Register(tsuid);
    REQUIRE(number.ok());
    return *number;
  }
  void Append(SeriesNumber number, int64_t time) {
    const PointEntry entry = MakePointEntry(number, Timestamp{time}, PointValue::Int(1));
    REQUIRE(points->Append({&entry, 1}).ok());
  }
  /// Like the write path: registers the series again if it was forgotten.
  void Write(const Bytes& tsuid, SeriesNumber number, int64_t time) {
    for (;;) {
      const PointEntry entry = MakePointEntry(number, Timestamp{time}, PointValue::Int(1));
      const StatusCode code = points->Append({&entry, 1}).status().code();
      if (code == StatusCode::kOk) return;
      REQUIRE(code == StatusCode::kNotFound);
      number = Register(tsuid);
    }
  }
  void Sweep() {
    const Status status = engine->SweepSeries();
    INFO(status.ToString());
    REQUIRE(status.ok());
  }
  /// Whether the series is found by metric and tag.
  [[nodiscard]] bool IsIndexed(uint64_t host, uint64_t metric) const {
    const Bytes tsuid = Tsuid(host, metric);
    SeriesMatcher matcher;
    matcher.clauses.push_back(
        {.tagk = tsuid.substr(3, 3), .kind = TagClause::Kind::kOneOf, .values = {tsuid.substr(6)}});
    MemoryTally memory(nullptr);
    return engine->registry().Match(tsuid.substr(0, 3), matcher, &memory)->numbers.size() == 1;
  }
  [[nodiscard]] std::set<Bytes> Listed(ByteView metric = {}) const {
    std::set<Bytes> listed;
    REQUIRE(points
                ->ListSeries(metric, {}, nullptr,
                             [&](ByteView tsuid) { return listed.emplace(tsuid).second; })
                .ok());
    return listed;
  }
};

using Set = std::set<Bytes>;

TEST_CASE("a series whose points have expired leaves the index, and its memory is freed") {
  Rig rig;
  rig.SetTtl();
  constexpr uint64_t kGone = 20'000;
  for (uint64_t host = 1; host <= kGone; ++host) rig.Append(rig.Register(Tsuid(host)), kBase);
  rig.Append(rig.Register(Tsuid(1, 2)), kBase);
  const SeriesNumber stays = rig.Register(Tsuid(kGone + 1));
  rig.Append(stays, kBase);
  rig.Merge();
  CHECK(rig.Listed().size() == kGone + 2);
  CHECK(rig.engine->Stats().series == kGone + 2);
  const uint64_t bytes = rig.engine->Stats().registry_bytes;

  rig.clock.AdvanceMs((kTtl + 3600) * 1000);
  rig.Append(stays, kBase + kTtl + 3600);
  rig.Sweep();
  CHECK(rig.Listed().size() == kGone + 2);  // files still have the points
  rig.Merge();
  CHECK(rig.Listed() == Set{Tsuid(kGone + 1)});
  CHECK(rig.engine->registry().Metrics() == std::vector<Bytes>{Tsuid(1).substr(0, 3)});
  CHECK(rig.engine->Stats().series == 1);
  CHECK(rig.engine->Stats().registry_bytes < bytes / 2);
  CHECK(rig.IsIndexed(kGone + 1, 1));
  CHECK(!rig.IsIndexed(1, 1));
}

TEST_CASE(
    "points with the number of a forgotten series are refused, and the series gets a new number") {
  Rig rig;
  rig.SetTtl();
  const SeriesNumber number = rig.Register(Tsuid(1));
  rig.Append(number, kBase);
  rig.Merge();
  rig.clock.AdvanceMs(2 * kTtl * 1000);
  rig.Merge();
  REQUIRE(rig.Listed().empty());

  const auto refused = [&rig, number] {
    const PointEntry old = MakePointEntry(number, Timestamp{kBase}, PointValue::Int(7));
    return rig.points->Append({&old, 1}).status().code();
  };
  CHECK(refused() == StatusCode::kNotFound);
  CHECK(rig.points->TsuidOf(number).empty());
  CHECK(rig.Listed().empty());
  const SeriesNumber again = rig.Register(Tsuid(1));
  CHECK(again == number + 1);
  CHECK(rig.Register(Tsuid(1)) == again);
  CHECK(rig.points->TsuidOf(again) == Tsuid(1));
  rig.Append(again, kBase + 2 * kTtl + 1);
  CHECK(refused() == StatusCode::kNotFound);
  CHECK(rig.Listed() == Set{Tsuid(1)});
  rig.Merge();
  rig.Open();
  CHECK(refused() == StatusCode::kNotFound);
  rig.Sweep();
  CHECK(CountPoints(*rig.points, 1) == 1);
}

// Blocks of 16,384 numbers are freed, and copied if only a part of their series is forgotten.
TEST_CASE("the memory of forgotten series is freed when the last reader that found them ends") {
  Rig rig;
  rig.SetTtl();
  constexpr uint64_t kGone = 40'000, kEach = 5000;
  const auto comes_back = [](uint64_t host) { return host % kEach == 0; };
  const auto bytes = [&rig] { return rig.engine->registry().bytes(); };
  std::vector<Bytes> all;
  for (uint64_t host = 1; host <= kGone; ++host) {
    all.push_back(Tsuid(host));
    rig.Append(rig.Register(all.back()), kBase);
  }
  rig.Merge();
  MemoryTally memory(nullptr);
  engine::FoundSeries found = *rig.engine->registry().Match(Tsuid(1).substr(0, 3), {}, &memory);
  const size_t before = bytes();
  rig.clock.AdvanceMs(2 * kTtl * 1000);
  for (uint64_t host = 1; host <= kGone; ++host) {
    if (comes_back(host)) rig.Append(rig.Register(Tsuid(host)), kBase + 2 * kTtl);
  }
  rig.Merge();
  CHECK(rig.engine->Stats().series == kGone / kEach);

  const size_t held = bytes();
  std::vector<Bytes> named;
  for (const uint32_t number : found.numbers) named.emplace_back(found.tsuids->Tsuid(number));
  CHECK(named == all);
  found = {};
  // Two blocks of slots of 128 KiB are left, and the last block, which is not full.
  CHECK(bytes() < held - 32'000 * Tsuid(1).size());
  CHECK(bytes() < before / 2);
  named.clear();
  for (const Bytes& tsuid : rig.Listed()) named.push_back(tsuid);
  CHECK(named.size() == kGone / kEach);
  for (const Bytes& tsuid : named) CHECK(rig.points->TsuidOf(rig.Register(tsuid)) == tsuid);
}

TEST_CASE("readers keep the names of their series while others are forgotten and registered") {
  Rig rig;
  constexpr uint64_t kHosts = 20'000;
  constexpr int kRounds = 6;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> listed{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        MemoryTally memory(nullptr);
        const auto found = *rig.engine->registry().Match({}, {}, &memory);
        Bytes before;
        for (const uint32_t number : found.numbers) {
          const ByteView tsuid = found.tsuids->Tsuid(number);
          REQUIRE(before < tsuid);
          before = tsuid;
          const Bytes now = rig.points->TsuidOf(number);
          REQUIRE((now.empty() || now == tsuid));
          ++listed;
        }
      }
    });
  }
  std::thread sweeper([&] {
    while (!done) REQUIRE(rig.engine->SweepSeries().ok());
  });
  // Only every tenth series has a point, so that the sweeps forget the others.
  for (int round = 0; round < kRounds; ++round) {
    for (uint64_t host = 1; host <= kHosts; ++host) {
      const SeriesNumber number = rig.Register(Tsuid(host));
      if (host % 10 == 0) rig.Append(number, kBase + round);
    }
    REQUIRE(rig.engine->Flush().ok());
  }
  rig.Sweep();
  while (listed == 0) std::this_thread::yield();
  done = true;
  for (std::thread& reader : readers) reader.join();
  sweeper.join();
  CHECK(rig.engine->registry().forgotten_count() >= kHosts * 9 / 10);
  CHECK(rig.Listed().size() == kHosts / 10);
  CHECK(CountPoints(*rig.points, 1) == kHosts / 10 * kRounds);
}

TEST_CASE(
    "series without rows are forgotten after a merge, and are not found after a restart and "
    "its first sweep") {
  Rig rig;
  for (uint64_t host = 1; host <= 3; ++host) rig.Append(rig.Register(Tsuid(host)), kBase);
  rig.Merge();
  PointScanSpec spec;
  spec.metric = Tsuid(1).substr(0, 3);
  spec.matcher.tsuids = {Tsuid(2)};
  REQUIRE(rig.points->DeleteRows(spec).ok());
  rig.Sweep();
  CHECK(rig.Listed().size() == 3);  // the tombstone and the deleted points are rows
  rig.Merge();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(3)});
  rig.Open();
  rig.Sweep();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(3)});
  // Numbers are never given again.
  CHECK(rig.Register(Tsuid(4)) == 3);
  rig.Append(rig.Register(Tsuid(2)), kBase + 1);
  rig.Open();
  rig.Sweep();
  // A series without points is listed until its registration is flushed.
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2), Tsuid(3), Tsuid(4)});
  rig.Merge();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2), Tsuid(3)});
  CHECK(CountPoints(*rig.points, 1) == 3);
}

TEST_CASE("a start does not read forgotten series, and their numbers are not given again") {
  Rig rig;
  rig.SetTtl();
  constexpr uint64_t kGone = 20'000;
  for (uint64_t host = 1; host <= kGone; ++host) rig.Append(rig.Register(Tsuid(host)), kBase);
  rig.Merge();
  const uint64_t bytes = rig.engine->Stats().registry_bytes;
  rig.clock.AdvanceMs(2 * kTtl * 1000);
  const SeriesNumber stays = rig.Register(Tsuid(kGone + 1));
  rig.Append(stays, kBase + 2 * kTtl);
  rig.Merge();
  rig.Open();
  CHECK(rig.engine->Stats().series == 1);
  CHECK(rig.engine->Stats().registry_bytes < bytes / 5);
  CHECK(rig.Listed() == Set{Tsuid(kGone + 1)});
  CHECK(rig.Register(Tsuid(kGone + 1)) == stays);
  CHECK(rig.Register(Tsuid(1)) == stays + 1);

  // The same is true if the last numbers are forgotten, and if no series is left.
  rig.clock.AdvanceMs(2 * kTtl * 1000);
  rig.Merge();
  CHECK(rig.Listed().empty());
  rig.Open();
  CHECK(rig.Listed().empty());
  CHECK(rig.Register(Tsuid(1)) == stays + 2);
  rig.Append(rig.Register(Tsuid(1)), kBase + 4 * kTtl);
  rig.Open();
  CHECK(rig.Listed() == Set{Tsuid(1)});
  rig.Merge();
  rig.Open();
  CHECK(rig.Listed() == Set{Tsuid(1)});
  CHECK(CountPoints(*rig.points, 1) == 1);
  rig.Close();
  const auto report = engine::CheckDirectory(rig.disk, "d");
  REQUIRE(report.ok());
  CHECK(report->damages.empty());
}

TEST_CASE("a start refuses a list of series that lacks a series, unless the series was forgotten") {
  Rig rig;
  for (uint64_t host = 1; host <= 9; ++host) rig.Append(rig.Register(Tsuid(host)), kBase);
  rig.Merge();
  PointScanSpec spec;
  spec.metric = Tsuid(1).substr(0, 3);
  spec.matcher.tsuids = {Tsuid(2), Tsuid(7)};
  REQUIRE(rig.points->DeleteRows(spec).ok());
  rig.Merge();
  rig.Close();
  lsm::Manifest manifest = *lsm::LoadManifest(rig.disk, "d");
  CHECK(manifest.series_end == 9);
  CHECK(manifest.forgotten_series == 2);
  manifest.forgotten_series = 1;
  REQUIRE(lsm::SaveManifest(rig.disk, "d", manifest).ok());
  const auto opened = engine::Engine::Open(Options(), rig.disk, rig.clock);
  CHECK(opened.status().code() == StatusCode::kCorruption);
  CHECK(engine::CheckDirectory(rig.disk, "d")->damages.size() == 1);
  REQUIRE(engine::RepairDirectory(rig.disk, "d").ok());
  rig.Open();
  CHECK(rig.Listed().size() == 7);
  CHECK(CountPoints(*rig.points, 1) == 7);
}

// The disk has the state of a crash after a sweep that did not write the list of series again: the
// log, or the flushed list, has a second number for a series.
TEST_CASE("after a crash, a series that was registered again has only its new number") {
  for (const bool flushed : {false, true}) {
    Rig rig;
    rig.SetTtl();
    const SeriesNumber before = rig.Register(Tsuid(1));
    rig.Append(before, kBase);
    for (uint64_t host = 2; host <= 40; ++host) {
      rig.Append(rig.Register(Tsuid(host)), kBase + 3 * kTtl);
    }
    rig.Merge();
    rig.clock.AdvanceMs(2 * kTtl * 1000);
    rig.Merge();  // one of forty series is too few to write the list again
    CHECK(rig.Listed().size() == 39);
    rig.Append(rig.Register(Tsuid(1)), kBase + 2 * kTtl);
    const Bytes key = codec::MakeRowKey(rig.engine->layout(), Tsuid(1), kBase + 3 * kTtl);
    const Bytes qualifier("\1\0\0", 3);  // an annotation
    REQUIRE(
        rig.cells->Mutate("tsdb", {{key, {{CellChange::Kind::kPut, "t", qualifier, "{}"}}}}).ok());
    CHECK(rig.Listed().size() == 40);
    if (flushed) REQUIRE(rig.engine->Flush().ok());
    rig.Open();
    CHECK(rig.Listed().size() == 40);
    CHECK(rig.engine->Stats().series == 40);
    CHECK(rig.IsIndexed(1, 1));
    CHECK(CountPoints(*rig.points, 1) == 40);
    CHECK(rig.Register(Tsuid(1)) == 40);
    rig.Merge();
    rig.Open();
    CHECK(rig.Listed().size() == 40);
    CHECK(CountPoints(*rig.points, 1) == 40);
  }
}

TEST_CASE("a power cut at any moment of a sweep loses no point") {
  bool died = true;
  for (uint64_t call = 1; died; ++call) {
    CAPTURE(call);
    Rig rig;
    for (uint64_t host = 1; host <= 4; ++host) rig.Append(rig.Register(Tsuid(host)), kBase);
    REQUIRE(rig.engine->Flush().ok());
    PointScanSpec spec;
    spec.metric = Tsuid(1).substr(0, 3);
    spec.matcher.tsuids = {Tsuid(1), Tsuid(3)};
    REQUIRE(rig.points->DeleteRows(spec).ok());
    REQUIRE(rig.engine->Flush().ok());
    REQUIRE(rig.engine->Compact(*rig.engine->points_table()).ok());
    rig.disk.DieAtCall(call);
    const Status swept = rig.engine->SweepSeries();
    died = rig.disk.failed();
    if (!died) rig.disk.FailCall(0);
    if (swept.ok()) {
      CHECK(rig.engine->registry().forgotten_count() == 2);
      // The point of a series that comes back after the sweep.
      const SeriesNumber again = rig.Register(Tsuid(1));
      const PointEntry entry = MakePointEntry(again, Timestamp{kBase + 60}, PointValue::Int(1));
      const auto position = rig.points->Append({&entry, 1});
      REQUIRE(position.ok());
      if (!died) REQUIRE(rig.engine->Sync().ok());
    }
    rig.Close();
    rig.disk.PowerCut();
    rig.disk.FailCall(0);
    rig.Open();
    CHECK(CountPoints(*rig.points, 1) == (swept.ok() && !died ? 3 : 2));
    rig.Append(rig.Register(Tsuid(3)), kBase + 120);
    CHECK(rig.Listed().contains(Tsuid(3)));
    rig.Merge();
    rig.Open();
    CHECK(rig.Listed().size() == (swept.ok() && !died ? 4 : 3));
    CHECK(CountPoints(*rig.points, 1) == (swept.ok() && !died ? 4 : 3));
    CHECK(rig.engine->Check()->damages.empty());
  }
}

TEST_CASE("a logged change without effect on a forgotten series does not prevent a start") {
  Rig rig;
  const Bytes key = codec::MakeRowKey(rig.engine->layout(), Tsuid(1), kBase);
  const Bytes qualifier("\1\0\0", 3);  // an annotation
  rig.Register(Tsuid(1));
  REQUIRE(rig.engine->Flush().ok());
  // The annotation does not exist, so the record in the log has no change.
  REQUIRE(
      rig.cells->Mutate("tsdb", {{key, {{CellChange::Kind::kDeleteVersion, "t", qualifier, {}}}}})
          .ok());
  rig.Sweep();
  REQUIRE(rig.engine->registry().forgotten_count() <= 1);
  rig.Open();
  rig.Append(rig.Register(Tsuid(1)), kBase);
  CHECK(CountPoints(*rig.points, 1) == 1);
}

TEST_CASE("a scan that began before its series were forgotten returns their rows") {
  Rig rig;
  rig.SetTtl();
  for (uint64_t host = 1; host <= 3; ++host) rig.Append(rig.Register(Tsuid(host)), kBase);
  REQUIRE(rig.engine->Flush().ok());
  PointScanSpec spec;
  spec.metric = Tsuid(1).substr(0, 3);
  spec.rows = {kBase, kBase + 3600};
  const auto scan = rig.points->Scan(spec, {});
  REQUIRE(scan.ok());
  // After this flush, the scan does not see the memtable of the tombstones.
  rig.Append(rig.Register(Tsuid(1, 2)), kBase);
  REQUIRE(rig.engine->Flush().ok());
  REQUIRE(rig.points->DeleteRows(spec).ok());
  rig.Merge();
  CHECK(rig.engine->registry().forgotten_count() == 3);
  CHECK(rig.Listed() == Set{Tsuid(1, 2)});
  size_t rows = 0;
  for (RowHour row;; ++rows) {
    const auto more = (*scan)->Next(&row);
    REQUIRE(more.ok());
    if (!*more) break;
  }
  CHECK(rows == 3);
}

TEST_CASE("a series with only an annotation, or with only rollups, stays") {
  Rig rig;
  const std::string kinds[] = {"tsdb", "rollup"};
  const Bytes qualifier("\x01\0\0", 3);  // an annotation
  const auto put = [&](const std::string& table, uint64_t host) {
    const Bytes key = codec::MakeRowKey(rig.engine->layout(), Tsuid(host), kBase);
    REQUIRE(
        rig.cells->Mutate(table, {{key, {{CellChange::Kind::kPut, "t", qualifier, "{}"}}}}).ok());
  };
  for (uint64_t host = 1; host <= 2; ++host) rig.Register(Tsuid(host));
  REQUIRE(rig.engine->Flush().ok());
  rig.Sweep();
  CHECK(rig.Listed().empty());
  for (uint64_t host = 1; host <= 2; ++host) put(kinds[host - 1], host);
  // A row of rollups registers no series, but it keeps a registered series.
  CHECK(rig.Listed() == Set{Tsuid(1)});
  rig.Register(Tsuid(2));
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2)});
  REQUIRE(rig.engine->Flush().ok());
  rig.Sweep();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2)});
  rig.Merge();
  rig.Open();
  rig.Sweep();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2)});
}

TEST_CASE(
    "after random writes, deletes, sweeps and restarts, the listed series are those with rows") {
  constexpr int kSteps = kThreadSanitizer ? 300 : 1500;
  Rig rig;
  std::mt19937 random(5);
  std::set<uint64_t> with_rows;
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t host = 1 + random() % 60;
    const uint32_t what = random() % 100;
    if (what < 50) {
      rig.Append(rig.Register(Tsuid(host)), kBase + static_cast<int64_t>(random() % 200'000));
      with_rows.insert(host);
    } else if (what < 80) {
      PointScanSpec spec;
      spec.metric = Tsuid(1).substr(0, 3);
      spec.matcher.tsuids = {Tsuid(host)};
      REQUIRE(rig.points->DeleteRows(spec).ok());
      with_rows.erase(host);
    } else if (what < 85) {
      REQUIRE(rig.engine->Flush().ok());
    } else if (what < 90) {
      rig.Sweep();
    } else if (what < 93) {
      rig.Open();
    } else {
      rig.Merge();
      Set expected;
      for (const uint64_t some : with_rows) expected.insert(Tsuid(some));
      REQUIRE(rig.Listed() == expected);
    }
    const Set listed = rig.Listed();
    for (const uint64_t some : with_rows) REQUIRE(listed.contains(Tsuid(some)));
  }
}

TEST_CASE("appends during sweeps lose nothing, and each point is found at once") {
  Rig rig;
  constexpr uint64_t kHosts = 200;
  constexpr int kRounds = 150;
  std::vector<SeriesNumber> numbers;
  for (uint64_t host = 1; host <= kHosts; ++host) numbers.push_back(rig.Register(Tsuid(host)));
  std::atomic<bool> done{false};
  std::thread sweeper([&] {
    while (!done) REQUIRE(rig.engine->SweepSeries().ok());
  });
  std::thread flusher([&] {
    while (!done) REQUIRE(rig.engine->Flush().ok());
  });
  std::vector<std::thread> writers;
  std::atomic<size_t> written{0};
  for (size_t writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      std::mt19937 random(static_cast<unsigned>(writer));
      for (int round = 0; round < kRounds; ++round) {
        const size_t i = random() % (kHosts / 2) * 2 + writer;
        rig.Write(Tsuid(i + 1), numbers[i], kBase + round);
        ++written;
        REQUIRE(rig.IsIndexed(i + 1, 1));
        const uint64_t fresh = 1000 + static_cast<uint64_t>(round) * 2 + writer;
        rig.Write(Tsuid(fresh, 2), rig.Register(Tsuid(fresh, 2)), kBase + round);
        REQUIRE(rig.IsIndexed(fresh, 2));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  sweeper.join();
  flusher.join();
  CHECK(CountPoints(*rig.points, 1) == written);
  CHECK(CountPoints(*rig.points, 2) == written);
  rig.Open();
  rig.Sweep();
  CHECK(CountPoints(*rig.points, 1) == written);
  CHECK(CountPoints(*rig.points, 2) == written);
}

TEST_CASE("points that are written while their series are forgotten are all stored") {
  Rig rig;
  constexpr uint64_t kHosts = 50;
  constexpr int kRounds = 100;
  std::vector<SeriesNumber> numbers;
  for (uint64_t host = 1; host <= kHosts; ++host) numbers.push_back(rig.Register(Tsuid(host)));
  REQUIRE(rig.engine->Flush().ok());
  std::atomic<bool> done{false};
  std::thread sweeper([&] {
    while (!done) REQUIRE(rig.engine->SweepSeries().ok());
  });
  PointScanSpec spec;
  spec.metric = Tsuid(1).substr(0, 3);
  const Bytes qualifier("\1\0\0", 3);  // an annotation
  for (int round = 0; round < kRounds; ++round) {
    // Both writers use what they know from before the series were forgotten.
    std::thread of_cells([&] {
      for (uint64_t host = 1; host <= kHosts; ++host) {
        const Bytes key = codec::MakeRowKey(rig.engine->layout(), Tsuid(host), kBase);
        REQUIRE(rig.cells->Mutate("tsdb", {{key, {{CellChange::Kind::kPut, "t", qualifier, "{}"}}}})
                    .ok());
      }
    });
    for (uint64_t host = 1; host <= kHosts; ++host) {
      rig.Write(Tsuid(host), numbers[host - 1], kBase);
    }
    of_cells.join();
    REQUIRE(rig.Listed().size() == kHosts);
    REQUIRE(CountPoints(*rig.points, 1) == kHosts);
    REQUIRE(rig.points->DeleteRows(spec).ok());
    REQUIRE(rig.engine->Flush().ok());
    REQUIRE(rig.engine->Compact(*rig.engine->points_table()).ok());
    if (round % 4 == 0) rig.Sweep();  // otherwise the other thread may sweep at any time
  }
  done = true;
  sweeper.join();
  rig.Sweep();
  CHECK(rig.engine->registry().forgotten_count() > kHosts);
  CHECK(rig.Listed().empty());
}

TEST_CASE("series that are registered while a sweep builds the new index are in this index") {
  Rig rig;
  constexpr uint64_t kBatch = 3000;
  constexpr uint64_t kBatches = 10;
  std::atomic<bool> done{false};
  std::thread sweeper([&] {
    while (!done) REQUIRE(rig.engine->SweepSeries().ok());
  });
  // Every second series gets no point, so each sweep finds series to forget.
  Set with_points;
  for (uint64_t batch = 0; batch < kBatches; ++batch) {
    std::vector<Bytes> tsuids;
    for (uint64_t i = 0; i < kBatch; ++i) tsuids.push_back(Tsuid(batch * kBatch + i + 1));
    const std::vector<ByteView> views(tsuids.begin(), tsuids.end());
    std::vector<SeriesNumber> numbers(views.size());
    REQUIRE(rig.points->RegisterAll(views, numbers.data()).ok());
    for (uint64_t i = 0; i < kBatch; i += 2) {
      rig.Append(numbers[i], kBase);
      with_points.insert(tsuids[i]);
    }
    REQUIRE(rig.IsIndexed(batch * kBatch + 1, 1));
  }
  done = true;
  sweeper.join();
  REQUIRE(rig.engine->Flush().ok());
  rig.Sweep();
  CHECK(rig.Listed() == with_points);
}

}  // namespace
}  // namespace hg
