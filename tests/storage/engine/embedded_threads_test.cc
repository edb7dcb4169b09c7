// Concurrent writers, readers, flushes and merges. Also run with the thread sanitizer (./test
// --tsan).

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "storage/engine/embedded.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/storage/engine/tsuid.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1700002800;
constexpr int kSeries = 40;
constexpr int kPoints = 600;  // per series
constexpr int kCounts = 200;  // increments per thread

Bytes Metric(int i) {
  Bytes metric;
  AppendBig(&metric, static_cast<uint64_t>(i), 3);
  return metric;
}

// Point n of a series has the value n, so a reader that sees n must see all earlier points.
size_t CheckPrefixes(Points& points, int metric) {
  PointScanSpec spec;
  spec.metric = Metric(metric);
  auto scan = points.Scan(spec, {});
  REQUIRE(scan.ok());
  size_t count = 0;
  for (RowHour row;;) {
    auto more = (*scan)->Next(&row);
    INFO(more.status().ToString());
    REQUIRE(more.ok());
    if (!*more) return count;
    const int64_t first = (int64_t{row.base} - kBase) / 10;
    for (size_t i = 0; i < row.value.size(); ++i) {
      REQUIRE(row.value[i] == static_cast<uint64_t>(first) + i);
    }
    count += row.value.size();
  }
}

TEST_CASE("writers, readers, flushes and merges work concurrently") {
  TempFolder folder;
  EmbeddedOptions options;
  options.path = folder.path();
  options.log_file_bytes = 1 << 18;
  auto opened = Embedded::Open(options);
  REQUIRE(opened.ok());
  auto store = std::move(*opened);
  std::atomic<int> running{4};
  std::vector<std::thread> threads;
  for (int metric = 1; metric <= 2; ++metric) {
    threads.emplace_back([&, metric] {
      for (int n = 0; n < kPoints; ++n) {
        std::vector<PointEntry> batch;
        for (int host = 1; host <= kSeries; ++host) {
          auto number = store->points().Register(
              Tsuid(static_cast<uint64_t>(host), static_cast<uint64_t>(metric)));
          REQUIRE(number.ok());
          batch.push_back(
              MakePointEntry(*number, Timestamp{int64_t{kBase} + n * 10}, PointValue::Int(n)));
        }
        auto position = store->points().Append(batch);
        REQUIRE(position.ok());
        store->points().Commit(*position, [](Status status) { CHECK(status.ok()); });
      }
      --running;
    });
    threads.emplace_back([&] {
      for (int n = 0; n < kCounts; ++n) {
        REQUIRE(store->cells().Increment("tsdb-uid", "counter", "id", "metrics", 1).ok());
      }
      --running;
    });
  }
  threads.emplace_back([&] {
    while (running > 0) {
      REQUIRE(store->cells().Flush().ok());
      REQUIRE(store->cells().Compact().ok());
    }
  });
  threads.emplace_back([&] {
    while (running > 0) CheckPrefixes(store->points(), 1);
  });
  threads.emplace_back([&] {
    while (running > 0) {
      ScanSpec spec;
      spec.table = "tsdb";
      auto cursor = store->cells().Scan(spec);
      REQUIRE(cursor.ok());
      std::vector<Row> rows;
      Bytes last;
      do {
        REQUIRE((*cursor)->Next(&rows).ok());
        for (const Row& row : rows) {
          REQUIRE(row.key > last);
          last = row.key;
        }
      } while (!rows.empty());
    }
  });
  for (auto& thread : threads) thread.join();
  CHECK(CheckPrefixes(store->points(), 1) == kSeries * kPoints);
  CHECK(CheckPrefixes(store->points(), 2) == kSeries * kPoints);
  store.reset();
  opened = Embedded::Open(options);
  REQUIRE(opened.ok());
  store = std::move(*opened);
  CHECK(CheckPrefixes(store->points(), 1) == kSeries * kPoints);
  auto counter = store->cells().Increment("tsdb-uid", "counter", "id", "metrics", 0);
  REQUIRE(counter.ok());
  CHECK(*counter == 2 * kCounts);
}

}  // namespace
}  // namespace hg
