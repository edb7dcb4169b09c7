// Work on files is spread evenly: three hours of a store of twenty regions around midnight, with a
// clock as fast as the work allows. Nothing is timed. The test counts the work per minute of that
// clock.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr int64_t kMidnight = 1'700'006'400;
constexpr int kMinutes = 180;
constexpr int64_t kStart = kMidnight - 90 * 60;
constexpr int kRegions = 20;
constexpr uint32_t kSeries = 200;

class WorkPerMinute : public StoreObserver {
 public:
  struct Minute {
    int flushes = 0;
    int merges = 0;
    uint64_t flushed_bytes = 0;
    uint64_t merged_bytes = 0;
  };
  void AfterWork(const StoreWork& work) override {
    Minute& now = minutes.at(minute);
    if (work.kind == StoreWork::Kind::kFlush) {
      ++now.flushes;
      now.flushed_bytes += work.bytes_written;
    } else if (work.kind == StoreWork::Kind::kMerge) {
      ++now.merges;
      now.merged_bytes += work.bytes_written;
    }
  }
  size_t minute = 0;
  std::array<Minute, kMinutes> minutes;
};

TEST_CASE("merges are spread over time, also at the turn of the hour") {
  FaultyFileSystem disk(1);
  ManualClock clock(kStart * 1000);
  const auto work = std::make_shared<WorkPerMinute>();
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  options.layout.salt_width = 1;
  options.layout.salt_buckets = kRegions;
  options.flush_age_ms = 5 * 60'000;
  options.merge.small_bytes = 0;
  options.observers = {work};
  auto opened = engine::Engine::Open(options, disk, clock);
  REQUIRE(opened.ok());
  engine::Engine& engine = **opened;
  for (uint32_t series = 0; series < kSeries; ++series) {
    Bytes tsuid("\0\0\1\0\0\1", 6);
    AppendBig(&tsuid, series + 1, 3);
    REQUIRE(engine.Register(tsuid).ok());
  }
  for (; work->minute < kMinutes; ++work->minute) {
    const int64_t time = kStart + static_cast<int64_t>(work->minute) * 60;
    std::vector<PointEntry> batch;
    for (uint32_t series = 0; series < kSeries; ++series) {
      batch.push_back(MakePointEntry(series, Timestamp{time}, PointValue::Int(series)));
    }
    REQUIRE(engine.Append(batch).ok());
    clock.SetMs((time + 60) * 1000);
    REQUIRE(engine.FlushIfNeeded().ok());
    REQUIRE(engine.MergePending(engine::Engine::MergePool::kAny).ok());
    if (work->minute + 1 == kMinutes) break;
  }
  int flushes = 0, merges = 0, merges_most = 0, turn_most = 0;
  uint64_t merged_bytes = 0, merged_most = 0;
  for (size_t i = 0; i < work->minutes.size(); ++i) {
    const auto& minute = work->minutes[i];
    flushes += minute.flushes;
    merges += minute.merges;
    merged_bytes += minute.merged_bytes;
    merges_most = std::max(merges_most, minute.merges);
    merged_most = std::max(merged_most, minute.merged_bytes);
    const int64_t of_hour = (kStart / 60 + static_cast<int64_t>(i)) % 60;
    if (of_hour >= 57 || of_hour <= 3) turn_most = std::max(turn_most, minute.merges);
  }
  MESSAGE(flushes << " flushes, " << merges << " merges, at most " << merges_most
                  << " of them in a minute, " << turn_most << " at the turn of an hour");
  CHECK(flushes >= 25);
  CHECK(merges > 2 * kRegions);
  // Regions are flushed together, but at most half of them are merged in one minute.
  CHECK(merges_most <= kRegions / 2);
  CHECK(turn_most <= merges_most);
  CHECK(merged_most * 8 < merged_bytes);
}

}  // namespace
}  // namespace hg
