// What counts against the memory budget, and who is refused first.

#include <doctest/doctest.h>

#include "storage/points/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kTime = 1700002800;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.memory_limit_bytes = 12 << 20;
  return options;
}

Bytes Tsuid(uint64_t host) {
  Bytes tsuid("\0\0\1\0\0\1", 6);
  AppendBig(&tsuid, host, 3);
  return tsuid;
}

Status AppendPoint(Embedded& store, SeriesNumber series, int64_t time) {
  const PointEntry entry = MakePointEntry(series, Timestamp{time}, PointValue::Int(1));
  return store.points().Append({&entry, 1}).status();
}

TEST_CASE("names count: new series are refused first, points of known ones go on") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(), disk, clock);
  REQUIRE(store.ok());
  Status status;
  uint64_t host = 0;
  for (; status.ok() && host < 500'000; ++host) {
    status = (*store)->points().Register(Tsuid(host)).status();
  }
  CHECK(status.code() == StatusCode::kBusy);
  const EmbeddedStats stats = (*store)->Stats();
  CHECK(stats.memory_bytes + stats.registry_bytes <= stats.memory_limit_bytes);
  CHECK(stats.series > 1000);
  CHECK(AppendPoint(**store, 0, kTime).ok());
  CHECK((*store)->points().Register(Tsuid(0)).ok());
}

TEST_CASE("flushed memory counts until its last reader has gone") {
  FaultyFileSystem disk(1);
  ManualClock clock(kTime * 1000);
  auto store = Embedded::Open(Options(), disk, clock);
  REQUIRE(store.ok());
  const auto series = (*store)->points().Register(Tsuid(1));
  REQUIRE(series.ok());
  for (int64_t hour = 0; hour < 10'000; ++hour) {
    REQUIRE(AppendPoint(**store, *series, hour * 3600).ok());
  }
  const uint64_t before = (*store)->Stats().memory_bytes;
  ScanSpec spec;
  spec.table = "tsdb";
  auto reader = (*store)->cells().Scan(spec);
  REQUIRE(reader.ok());
  REQUIRE((*store)->cells().Flush().ok());
  CHECK((*store)->Stats().memory_bytes >= before);
  reader->reset();
  CHECK((*store)->Stats().memory_bytes < before / 2);
}

}  // namespace
}  // namespace hg
