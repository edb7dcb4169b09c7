// The life cycle of series: a series without rows leaves the index, and comes back with its next
// row. Also run with the thread sanitizer (./test --tsan).

#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/engine/embedded_points.h"
#include "storage/engine/embedded_store.h"
#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kBase = 1'700'002'800;
constexpr int64_t kTtl = 7200;

Bytes Tsuid(uint64_t host, uint64_t metric = 1) {
  Bytes tsuid;
  AppendBig(&tsuid, metric, 3);
  AppendBig(&tsuid, 1, 3);
  AppendBig(&tsuid, host, 3);
  return tsuid;
}

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.tables.push_back({"rollup", {{"t"}}, false});
  return options;
}

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{kBase * 1000};
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::EmbeddedPoints> points;
  std::unique_ptr<engine::EmbeddedStore> cells;

  Rig() { Open(); }
  void Open() {
    cells.reset();
    points.reset();
    engine.reset();
    auto opened = engine::Engine::Open(Options(), disk, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    points = std::make_unique<engine::EmbeddedPoints>(*engine);
    cells = std::make_unique<engine::EmbeddedStore>(*engine);
  }
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
  void Sweep() {
    const Status status = engine->SweepSeries();
    INFO(status.ToString());
    REQUIRE(status.ok());
  }
  void Merge() {
    REQUIRE(engine->Flush().ok());
    REQUIRE(engine->Compact().ok());
  }
  /// Whether the series is found by metric and tag.
  [[nodiscard]] bool IsIndexed(uint64_t host, uint64_t metric) const {
    const Bytes tsuid = Tsuid(host, metric);
    SeriesMatcher matcher;
    matcher.clauses.push_back(
        {.tagk = tsuid.substr(3, 3), .kind = TagClause::Kind::kOneOf, .values = {tsuid.substr(6)}});
    return engine->registry().Match(tsuid.substr(0, 3), matcher).size() == 1;
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

TEST_CASE("a series whose points have expired leaves the index, and its memory") {
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

TEST_CASE("a series that is written again under its old number is found with all its points") {
  Rig rig;
  rig.SetTtl();
  const SeriesNumber number = rig.Register(Tsuid(1));
  rig.Append(number, kBase);
  rig.Merge();
  rig.clock.AdvanceMs(2 * kTtl * 1000);
  rig.Merge();
  REQUIRE(rig.Listed().empty());

  // The first point comes from a client that knows the number, the second from one that does not.
  rig.Append(number, kBase + 2 * kTtl);
  CHECK(rig.Listed() == Set{Tsuid(1)});
  CHECK(rig.Register(Tsuid(1)) == number);
  rig.Append(number, kBase + 2 * kTtl + 1);
  CHECK(CountPoints(*rig.points, 1) == 2);
  rig.Merge();
  CHECK(rig.Listed() == Set{Tsuid(1)});
  rig.Open();
  CHECK(CountPoints(*rig.points, 1) == 2);
  rig.Sweep();
  CHECK(CountPoints(*rig.points, 1) == 2);
}

TEST_CASE("deleted series leave after a merge, and stay away after a restart and its first sweep") {
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
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2), Tsuid(3)});
  CHECK(CountPoints(*rig.points, 1) == 3);
}

TEST_CASE("a series with only an annotation, or with only rollups, stays and comes back") {
  Rig rig;
  const std::string kinds[] = {"tsdb", "rollup"};
  const Bytes qualifier("\x01\0\0", 3);  // an annotation
  const auto put = [&](const std::string& table, uint64_t host) {
    const Bytes key = codec::MakeRowKey(rig.engine->layout(), Tsuid(host), kBase);
    REQUIRE(
        rig.cells->Mutate(table, {{key, {{CellChange::Kind::kPut, "t", qualifier, "{}"}}}}).ok());
  };
  for (uint64_t host = 1; host <= 2; ++host) rig.Register(Tsuid(host));
  rig.Sweep();
  CHECK(rig.Listed().empty());
  for (uint64_t host = 1; host <= 2; ++host) put(kinds[host - 1], host);
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2)});
  rig.Sweep();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2)});
  rig.Merge();
  rig.Open();
  rig.Sweep();
  CHECK(rig.Listed() == Set{Tsuid(1), Tsuid(2)});
}

TEST_CASE("random histories: the listed series are those with rows, after sweeps and restarts") {
  Rig rig;
  std::mt19937 random(5);
  std::set<uint64_t> with_rows, known;
  for (int step = 0; step < 1500; ++step) {
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
        rig.Append(numbers[i], kBase + round);
        ++written;
        REQUIRE(rig.IsIndexed(i + 1, 1));
        const uint64_t fresh = 1000 + static_cast<uint64_t>(round) * 2 + writer;
        rig.Append(rig.Register(Tsuid(fresh, 2)), kBase + round);
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

TEST_CASE("series that are registered while a sweep builds its index are in it") {
  Rig rig;
  constexpr uint64_t kBatch = 3000;
  constexpr uint64_t kBatches = 10;
  std::atomic<bool> done{false};
  std::thread sweeper([&] {
    while (!done) REQUIRE(rig.engine->SweepSeries().ok());
  });
  // Every second series gets no point, so each sweep finds series to hide.
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
  rig.Sweep();
  CHECK(rig.Listed() == with_points);
}

}  // namespace
}  // namespace hg
