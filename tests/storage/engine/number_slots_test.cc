#include "storage/engine/number_slots.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hg::engine {
namespace {

TEST_CASE("numbers are found by hash and object, however many hashes are equal") {
  // The greatest hash begins at the last slot and continues at the first.
  const std::vector<uint32_t> alike = {0, 1, 77, UINT32_MAX - 1, UINT32_MAX};
  std::minstd_rand random(1);
  NumberSlots slots;
  std::vector<uint32_t> hashes;
  const auto find = [&](uint32_t hash, uint32_t number) {
    return slots.Find(hash, [&](uint32_t n) { return n == number; });
  };
  CHECK(find(5, 0) == NumberSlots::kNone);
  slots.Prefetch(5);
  for (uint32_t number = 0; number < 20'000; ++number) {
    const uint32_t hash = random() % 50 == 0 ? alike[random() % alike.size()] : random() * 2;
    slots.Reserve(1);
    slots.Add(hash, number);
    hashes.push_back(hash);
    REQUIRE(find(hash, number) == number);
    REQUIRE(find(hash, number + 1) == NumberSlots::kNone);
    REQUIRE(slots.bytes() <= std::max<size_t>(1024, hashes.size() * 10 / 4) * 8);
  }
  for (uint32_t number = 0; number < hashes.size(); ++number) {
    REQUIRE(find(hashes[number], number) == number);
  }
}

}  // namespace
}  // namespace hg::engine
