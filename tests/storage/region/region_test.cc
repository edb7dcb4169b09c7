#include <doctest/doctest.h>

#include <vector>

#include "storage/region/merge_policy.h"
#include "storage/region/region_map.h"

namespace hg::region {
namespace {

TEST_CASE("a salted table has a region for each bucket, and foreign keys are in the first") {
  KeyLayout layout;
  layout.salt_width = 1;
  layout.salt_buckets = 20;
  const RegionMap map(layout, true);
  CHECK(map.count() == 20);
  CHECK(map.RegionOf(Bytes("\x13\0\0\1", 4)) == 19);
  CHECK(map.RegionOf(Bytes("\x14\0\0\1", 4)) == 0);
  CHECK(map.RegionOf("") == 0);
  CHECK(map.Start(0).empty());
  CHECK(map.Stop(0) == Bytes(1, '\1'));
  CHECK(map.Stop(19).empty());
  for (uint32_t region = 1; region < 20; ++region) CHECK(map.RegionOf(map.Start(region)) == region);
}

TEST_CASE("a table without salt is one region") {
  KeyLayout layout;
  layout.salt_width = 1;
  CHECK(RegionMap(layout, false).count() == 1);
  CHECK(RegionMap(KeyLayout{}, true).count() == 1);
  CHECK(RegionMap(KeyLayout{}, true).RegionOf("\xFF") == 0);
}

TEST_CASE("small runs are merged once there are enough of them") {
  CHECK(RunsToMerge(std::vector<uint64_t>{10, 10, 10}) == 0);
  CHECK(RunsToMerge(std::vector<uint64_t>{10, 10, 10, 10}) == 4);
  CHECK(RunsToMerge(std::vector<uint64_t>(30, 10)) == kMergeMax);
}

TEST_CASE("a large run is left alone by few small ones, and joins its like") {
  constexpr uint64_t kMiB = 1 << 20;
  CHECK(RunsToMerge(std::vector<uint64_t>{kMiB, kMiB, kMiB, 500 * kMiB}) == 0);
  CHECK(RunsToMerge(std::vector<uint64_t>{kMiB, kMiB, kMiB, kMiB, 500 * kMiB}) == 4);
  CHECK(RunsToMerge(
            std::vector<uint64_t>{100 * kMiB, 100 * kMiB, 100 * kMiB, 90 * kMiB, 900 * kMiB}) == 4);
}

TEST_CASE("every byte is rewritten a logarithmic number of times") {
  std::vector<uint64_t> runs;  // newest first
  uint64_t written = 0;
  constexpr uint64_t kRun = 8 << 20;
  constexpr uint64_t kCount = 2000;
  for (uint64_t i = 0; i < kCount; ++i) {
    runs.insert(runs.begin(), kRun);
    while (const size_t n = RunsToMerge(runs)) {
      uint64_t sum = 0;
      for (size_t k = 0; k < n; ++k) sum += runs[k];
      written += sum;
      runs.erase(runs.begin(), runs.begin() + static_cast<ptrdiff_t>(n));
      runs.insert(runs.begin(), sum);
    }
    CHECK(runs.size() <= kRunsMax + 1);
  }
  CHECK(written < 9 * kCount * kRun);
}

}  // namespace
}  // namespace hg::region
