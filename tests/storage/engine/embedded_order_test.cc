// Of two writes to one time of a row, the later one is newer. Also tests what a reader sees between
// the two writes.

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/lsm/manifest.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1'700'002'800;

Bytes Key() { return codec::MakeRowKey(KeyLayout(), Tsuid(), kBase); }

std::unique_ptr<Embedded> Open(FileSystem& disk, const Clock& clock) {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.enable_compaction = false;
  auto opened = Embedded::Open(options, disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

void AppendPoint(Embedded& store, int64_t time, int64_t value) {
  const auto number = store.points().Register(Tsuid());
  REQUIRE(number.ok());
  const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
  REQUIRE(store.points().Append({&entry, 1}).ok());
}

// A compacted cell with one-byte integers at the seconds 0 and 1.
Status PutCompacted(Embedded& store, char first) {
  const Bytes qualifier("\x00\x00\x00\x10", 4);
  const Bytes value{first, 2, 0};
  return store.cells().Mutate("tsdb", {{Key(), {PutCell("t", qualifier, value)}}});
}

// Changes the manifest of a closed store as if so many records had been written.
void SkipRecords(FileSystem& disk, uint64_t records) {
  auto manifest = lsm::LoadManifest(disk, "d");
  REQUIRE(manifest.ok());
  manifest->flushed += records;
  REQUIRE(lsm::SaveManifest(disk, "d", *manifest).ok());
}

std::string Values(Embedded& store) {
  PointScanSpec spec;
  AppendBig(&spec.metric, 1, 3);
  ReconcileOptions options;
  options.fix_duplicates = true;
  auto scan = store.points().Scan(spec, options);
  REQUIRE(scan.ok());
  std::string text;
  for (RowHour row;;) {
    const auto more = (*scan)->Next(&row);
    INFO(more.status().ToString());
    REQUIRE(more.ok());
    if (!*more) return text;
    for (const uint64_t value : row.value) {
      text += std::to_string(static_cast<int64_t>(value)) + " ";
    }
  }
}

}  // namespace

TEST_CASE(
    "Of a point and a cell of one time the one written later is newer, however many writes "
    "are in between") {
  for (const uint64_t apart : {uint64_t{10}, uint64_t{1} << 31, (uint64_t{1} << 31) + 100,
                               uint64_t{1} << 32, uint64_t{3} << 40}) {
    for (const bool point_last : {true, false}) {
      for (const int flushes : {0, 1, 2}) {
        CAPTURE(apart);
        CAPTURE(point_last);
        CAPTURE(flushes);
        FaultyFileSystem disk(1);
        ManualClock clock(int64_t{kBase} * 1000);
        {
          auto store = Open(disk, clock);
          if (point_last) {
            REQUIRE(PutCompacted(*store, 5).ok());
          } else {
            AppendPoint(*store, kBase, 7);
          }
          REQUIRE(store->cells().Flush().ok());
          REQUIRE(store->Close().ok());
        }
        SkipRecords(disk, apart);
        auto store = Open(disk, clock);
        if (point_last) {
          AppendPoint(*store, kBase, 7);
        } else {
          REQUIRE(PutCompacted(*store, 5).ok());
        }
        if (flushes > 0) REQUIRE(store->cells().Flush().ok());
        if (flushes > 1) REQUIRE(store->cells().Compact().ok());
        CHECK(Values(*store) == (point_last ? "7 2 " : "5 2 "));
      }
    }
  }
}

TEST_CASE("a merge keeps the order of a cell and a later point beyond 2^32 records") {
  FaultyFileSystem disk(1);
  ManualClock clock(int64_t{kBase} * 1000);
  REQUIRE(Open(disk, clock)->Close().ok());
  SkipRecords(disk, (uint64_t{1} << 32) - 10);
  auto store = Open(disk, clock);
  REQUIRE(PutCompacted(*store, 5).ok());
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->Close().ok());
  SkipRecords(disk, 100);
  store = Open(disk, clock);
  AppendPoint(*store, kBase, 7);
  REQUIRE(store->cells().Flush().ok());
  CHECK(Values(*store) == "7 2 ");
  REQUIRE(store->cells().Compact().ok());
  CHECK(Values(*store) == "7 2 ");
}

TEST_CASE("Of several points of one batch at one time the last one is the newest, in any form") {
  const Timestamp second{kBase + 7}, millis{(int64_t{kBase} + 7) * 1000};
  const std::vector<std::pair<Timestamp, int64_t>> written = {
      {second, 5}, {second, 300}, {millis, 70'000}, {second, 5'000'000'000}, {millis, 6}};
  // Each of the points comes last once.
  for (size_t turn = 0; turn < written.size(); ++turn) {
    CAPTURE(turn);
    FaultyFileSystem disk(1);
    ManualClock clock(int64_t{kBase} * 1000);
    auto store = Open(disk, clock);
    const auto number = store->points().Register(Tsuid());
    REQUIRE(number.ok());
    std::vector<PointEntry> batch;
    for (size_t i = 0; i < written.size(); ++i) {
      const auto& [time, value] = written[(turn + i) % written.size()];
      batch.push_back(MakePointEntry(*number, time, PointValue::Int(value)));
    }
    const std::string last =
        std::to_string(written[(turn + written.size() - 1) % written.size()].second) + " ";
    REQUIRE(store->points().Append(batch).ok());
    CHECK(Values(*store) == last);
    REQUIRE(store->Close().ok());
    store = Open(disk, clock);  // replays the log
    CHECK(Values(*store) == last);
    REQUIRE(store->cells().Flush().ok());
    CHECK(Values(*store) == last);
    AppendPoint(*store, kBase + 8, 9);
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());
    CHECK(Values(*store) == last + "9 ");
  }
}

// The reader must see the point or the cell that replaces it, also while the cell memory is
// created.
TEST_CASE("A reader sees the old or the new value of a time, and never none") {
  FaultyFileSystem disk(1);
  ManualClock clock(int64_t{kBase} * 1000);
  auto store = Open(disk, clock);
  AppendPoint(*store, kBase, 1);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> reads{0}, empty{0};
  std::thread reader([&] {
    while (!stop) {
      const auto row = store->cells().Get("tsdb", Key());
      if (!row.ok() || row->cells.empty()) ++empty;
      ++reads;
    }
  });
  for (int i = 0; i < 300; ++i) {
    AppendPoint(*store, kBase, i);
    const uint64_t before = reads;
    while (reads < before + 3) std::this_thread::yield();
    // This cell has the qualifier of the point, but it is not a point, because it is too long for
    // its flags.
    const Bytes odd(3, static_cast<char>(i));
    CHECK(store->cells().Mutate("tsdb", {{Key(), {PutCell("t", Bytes(2, '\0'), odd)}}}).ok());
    CHECK(store->cells().Flush().ok());
  }
  stop = true;
  reader.join();
  CHECK(empty == 0);
}

}  // namespace hg
