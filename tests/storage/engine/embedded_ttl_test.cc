// TTL in the table of points, counted from the points' own time.

#include <doctest/doctest.h>

#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kBase = 1'700'002'800;
constexpr int64_t kDay = kBase + 3600;  // a midnight: each file holds one day
constexpr int64_t kTtl = 7200;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  return options;
}

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{kBase * 1000};
  std::unique_ptr<Embedded> store;

  Rig() {
    Open();
    SetTtl(kTtl);
  }
  void Open() {
    store.reset();
    auto opened = Embedded::Open(Options(), disk, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    store = std::move(*opened);
  }
  // Does the work of the background threads once. Returns the number of parts dropped unread.
  uint64_t WorkInBackground() {
    store.reset();
    uint64_t dropped = 0;
    {
      auto engine = engine::Engine::Open(Options(), disk, clock);
      REQUIRE(engine.ok());
      REQUIRE((*engine)->MergePending(engine::Engine::MergePool::kAny).ok());
      dropped = (*engine)->Stats().expired_parts;
    }
    Open();
    return dropped;
  }
  void SetTtl(int64_t ttl_s) {
    TableDescriptor table = *store->cells().DescribeTable("tsdb");
    table.families[0].ttl_s = ttl_s;
    REQUIRE(store->cells().AlterTable(table).ok());
  }
  void Write(int64_t time, int64_t value = 7) {
    auto number = store->points().Register(Tsuid());
    REQUIRE(number.ok());
    const PointEntry entry = MakePointEntry(*number, Timestamp{time}, PointValue::Int(value));
    REQUIRE(store->points().Append({&entry, 1}).ok());
  }
  // Returns the times of all points, from the point store.
  std::vector<int64_t> Points(int64_t begin = 0, int64_t end = int64_t{1} << 32) {
    PointScanSpec spec;
    spec.rows = {static_cast<uint32_t>(begin), static_cast<uint64_t>(end)};
    spec.metric = Bytes("\0\0\1", 3);
    auto scan = store->points().Scan(spec, {});
    REQUIRE(scan.ok());
    std::vector<int64_t> times;
    for (RowHour row;;) {
      auto more = (*scan)->Next(&row);
      REQUIRE(more.ok());
      if (!*more) return times;
      for (const uint32_t offset : row.offset_ms) times.push_back(row.base + offset / 1000);
    }
  }
  std::vector<int64_t> Values() {
    PointScanSpec spec;
    spec.metric = Bytes("\0\0\1", 3);
    auto scan = store->points().Scan(spec, {});
    REQUIRE(scan.ok());
    std::vector<int64_t> values;
    for (RowHour row; *(*scan)->Next(&row);) {
      for (const uint64_t value : row.value) values.push_back(static_cast<int64_t>(value));
    }
    return values;
  }
  // Returns the rows from the cell store.
  size_t Rows() {
    ScanSpec spec;
    spec.table = "tsdb";
    auto cursor = store->cells().Scan(spec);
    REQUIRE(cursor.ok());
    std::vector<Row> rows;
    REQUIRE((*cursor)->Next(&rows).ok());
    return rows.size();
  }
};

TEST_CASE("points are visible up to their TTL, counted from their own time, wherever they are") {
  for (const bool in_file : {false, true}) {
    CAPTURE(in_file);
    Rig rig;
    const std::vector<int64_t> times = {kBase, kBase + 1, kBase + 3600};
    for (const int64_t time : times) rig.Write(time);
    if (in_file) REQUIRE(rig.store->cells().Flush().ok());
    const auto at = [&](int64_t time, int64_t ms) {
      rig.clock.SetMs(time * 1000 + ms);
      return rig.Points();
    };
    CHECK(at(kBase + kTtl - 1, 0) == times);
    CHECK(at(kBase + kTtl, 0) == times);
    CHECK(at(kBase + kTtl, 1) == std::vector<int64_t>{kBase + 1, kBase + 3600});
    CHECK(rig.Rows() == 2);
    rig.Open();
    CHECK(at(kBase + kTtl + 2, 0) == std::vector<int64_t>{kBase + 3600});
    CHECK(rig.Rows() == 1);
    CHECK(at(kBase + 3600 + kTtl, 1).empty());
    CHECK(rig.Rows() == 0);
    CHECK(rig.Points(kBase - 3600, kBase + 3600).empty());
    // Data that is not removed yet is visible again with a longer TTL.
    rig.SetTtl(kTtlForever);
    CHECK(rig.Points() == times);
  }
}

TEST_CASE("a late point expires by its own time, not by that of its writing") {
  Rig rig;
  rig.clock.SetMs((kBase + 100'000) * 1000);
  rig.Write(kBase);
  CHECK(rig.Points().empty());
  rig.Write(kBase + 100'000);
  CHECK(rig.Points() == std::vector<int64_t>{kBase + 100'000});
}

TEST_CASE("annotations of a row expire at the end of its hour") {
  Rig rig;
  const Bytes key = codec::MakeRowKey(KeyLayout(), Tsuid(), static_cast<uint32_t>(kBase));
  REQUIRE(
      rig.store->cells().Mutate("tsdb", {{key, {PutCell("t", Bytes("\1\0\5", 3), "{}")}}}).ok());
  rig.clock.SetMs((kBase + 3599 + kTtl) * 1000);
  CHECK(rig.store->cells().Get("tsdb", key)->cells.size() == 1);
  rig.clock.SetMs((kBase + 3600 + kTtl) * 1000);
  CHECK(rig.store->cells().Get("tsdb", key)->empty());
}

TEST_CASE("a file whose last point has expired is removed without reading it") {
  Rig rig;
  rig.Write(kBase);
  REQUIRE(rig.store->cells().Flush().ok());
  rig.clock.SetMs((kBase + 4000) * 1000);
  rig.Write(kBase + 4000);
  REQUIRE(rig.store->cells().Flush().ok());
  const auto files = [&] {
    size_t count = 0;
    const std::vector<std::string> names = *rig.disk.List("d");
    for (const std::string& name : names) count += name.ends_with(".points") ? 1 : 0;
    return count;
  };
  REQUIRE(files() == 2);
  // The end of the hour counts, whichever file has the point.
  rig.clock.SetMs((kBase + 3600 + kTtl) * 1000);
  rig.Open();
  const uint64_t blocks = rig.store->Stats().blocks_read;
  REQUIRE(rig.store->cells().Compact().ok());
  CHECK(files() == 1);
  CHECK(rig.store->Stats().expired_parts == 1);
  CHECK(rig.Points() == std::vector<int64_t>{kBase + 4000});
  rig.clock.SetMs((kBase + 100'000) * 1000);
  const uint64_t before = rig.store->Stats().blocks_read;
  REQUIRE(rig.store->cells().Compact().ok());
  CHECK(files() == 0);
  // Only the block of the table of series is read, because that table is merged.
  CHECK(rig.store->Stats().blocks_read - before <= 1);
  CHECK(blocks <= before);
  rig.Open();
  CHECK(rig.Rows() == 0);
}

TEST_CASE("a merge of all files drops expired data, and a merge of some keeps it hidden") {
  Rig rig;
  for (int64_t hour = 0; hour < 8; ++hour) rig.Write(kDay + hour * 3600);
  REQUIRE(rig.store->cells().Flush().ok());
  const uint64_t whole = rig.store->Stats().file_bytes;
  rig.clock.SetMs((kDay + 6 * 3600 + kTtl) * 1000);
  CHECK(rig.Points() == std::vector<int64_t>{kDay + 6 * 3600, kDay + 7 * 3600});
  REQUIRE(rig.store->cells().Compact().ok());
  CHECK(rig.store->Stats().file_bytes < whole);
  CHECK(rig.store->Stats().expired_parts == 0);
  rig.SetTtl(kTtlForever);
  CHECK(rig.Points() == std::vector<int64_t>{kDay + 6 * 3600, kDay + 7 * 3600});
}

TEST_CASE("a file is not dropped while an older one has data that it replaced") {
  Rig rig;
  rig.Write(kDay, 1);
  for (int64_t hour = 1; hour < 24; ++hour) rig.Write(kDay + hour * 3600, 2);
  REQUIRE(rig.store->cells().Flush().ok());
  rig.Write(kDay, 3);  // its row expires no later than any row of the older file
  REQUIRE(rig.store->cells().Flush().ok());
  rig.clock.SetMs((kDay + 3600 + kTtl) * 1000);
  CHECK(rig.WorkInBackground() == 0);
  rig.SetTtl(kTtlForever);
  CHECK(rig.Values().front() == 3);
  // When the older file has expired, too, both are removed.
  rig.SetTtl(kTtl);
  rig.clock.SetMs((kDay + 100 * 3600) * 1000);
  CHECK(rig.WorkInBackground() == 2);
  rig.SetTtl(kTtlForever);
  CHECK(rig.Values().empty());
}

TEST_CASE("days are dropped one by one as they expire, whatever was flushed or merged together") {
  for (const bool merged : {false, true}) {
    CAPTURE(merged);
    Rig rig;
    rig.SetTtl(kTtlForever);
    for (int64_t day = 0; day < 3; ++day) {
      for (int64_t hour = 0; hour < 24; ++hour) rig.Write(kDay + day * 86'400 + hour * 3600);
    }
    REQUIRE(rig.store->cells().Flush().ok());
    if (merged) REQUIRE(rig.store->cells().Compact().ok());
    rig.SetTtl(kTtl);
    for (int64_t day = 0; day < 3; ++day) {
      rig.clock.SetMs((kDay + (day + 1) * 86'400 + kTtl) * 1000 - 1);
      CHECK(rig.WorkInBackground() == 0);
      rig.clock.AdvanceMs(1);
      CHECK(rig.WorkInBackground() == 1);
      CHECK(rig.Points().size() == static_cast<size_t>(24 * (2 - day)));
    }
  }
}

TEST_CASE("files with mostly expired points are merged automatically, once") {
  Rig rig;
  for (int64_t hour = 0; hour < 24; ++hour) rig.Write(kDay + hour * 3600);
  REQUIRE(rig.store->cells().Flush().ok());
  const uint64_t whole = rig.store->Stats().file_bytes;
  rig.clock.SetMs((kDay + 10 * 3600) * 1000 + kTtl * 1000);
  CHECK(rig.WorkInBackground() == 0);
  CHECK(rig.store->Stats().file_bytes == whole);
  rig.clock.SetMs((kDay + 18 * 3600) * 1000 + kTtl * 1000);
  CHECK(rig.WorkInBackground() == 0);
  const uint64_t less = rig.store->Stats().file_bytes;
  CHECK(less < whole);
  CHECK(rig.Points().size() == 6);
  const std::vector<std::string> files = *rig.disk.List("d");
  CHECK(rig.WorkInBackground() == 0);
  CHECK(rig.store->Stats().file_bytes == less);
  const auto points_files = [](const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
      if (name.ends_with(".points")) found.push_back(name);
    }
    return found;
  };
  CHECK(points_files(*rig.disk.List("d")) == points_files(files));
}

TEST_CASE("points of compacted and of single cells expire at their own time too") {
  Rig rig;
  const Bytes key = codec::MakeRowKey(KeyLayout(), Tsuid(), static_cast<uint32_t>(kBase));
  // Two points of one cell, a minute apart, next to a single one. They must not be converted to
  // points.
  const auto put = [&](const Bytes& qualifier, const Bytes& value) {
    REQUIRE(rig.store->cells().Mutate("tsdb", {{key, {PutCell("t", qualifier, value)}}}).ok());
  };
  put(Bytes("\x00\x00\x03\xC0", 4), Bytes("\1\2\0", 3));
  put(Bytes("\x07\x80", 2), Bytes("\3", 1));
  CHECK(rig.Points().size() == 3);
  rig.clock.SetMs((kBase + kTtl) * 1000 + 1);
  CHECK(rig.Points() == std::vector<int64_t>{kBase + 60, kBase + 120});
  rig.clock.SetMs((kBase + 60 + kTtl) * 1000 + 1);
  CHECK(rig.Points() == std::vector<int64_t>{kBase + 120});
}

}  // namespace
}  // namespace hg
