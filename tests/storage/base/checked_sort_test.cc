#include "storage/base/checked_sort.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/support/fake_watch.h"

namespace hg {
namespace {

/// Returns random keys, many of which are equal, with their positions.
std::vector<std::pair<uint32_t, size_t>> Shuffled(size_t count) {
  std::mt19937 random(7);
  std::vector<std::pair<uint32_t, size_t>> all;
  for (size_t i = 0; i < count; ++i) all.emplace_back(random() % (1 + count / 3), i);
  return all;
}

constexpr auto kByKey = [](const auto& a, const auto& b) { return a.first < b.first; };

TEST_CASE("lists of all lengths are sorted, and equal elements keep their order") {
  for (const size_t count : {0, 1, 2, 4095, 4096, 4097, 8192, 12288, 12289, 50000, 100001}) {
    CAPTURE(count);
    std::vector<std::pair<uint32_t, size_t>> all = Shuffled(count), expected = all;
    std::stable_sort(expected.begin(), expected.end(), kByKey);
    FakeWatch watch;
    {
      MemoryTally tally(&watch);
      REQUIRE(CheckedSort(&all, kByKey, &tally).ok());
      CHECK(tally.held() == 0);
    }
    CHECK(all == expected);
    CHECK(watch.steps >= count);
    CHECK(watch.bytes == 0);
  }
}

TEST_CASE("a sort ends with its request, at any moment") {
  constexpr size_t kCount = 100'000;
  FakeWatch whole;
  MemoryTally tally(&whole);
  auto all = Shuffled(kCount);
  REQUIRE(CheckedSort(&all, kByKey, &tally).ok());
  for (uint64_t part = 0; part < 50; ++part) {
    FakeWatch watch;
    watch.steps_max = whole.steps * part / 50;
    MemoryTally ended(&watch);
    all = Shuffled(kCount);
    CHECK(CheckedSort(&all, kByKey, &ended).code() == StatusCode::kDeadlineExceeded);
    CHECK(watch.steps < watch.steps_max + (1 << 16));
    CHECK(ended.held() == 0);
  }
}

TEST_CASE("a sort that may not have the memory of a second list is refused") {
  FakeWatch poor;
  poor.bytes_max = 100'000;
  MemoryTally tally(&poor);
  auto all = Shuffled(100'000);
  CHECK(CheckedSort(&all, kByKey, &tally).code() == StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace hg
