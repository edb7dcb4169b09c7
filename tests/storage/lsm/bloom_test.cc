#include "storage/lsm/bloom.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace hg::lsm {
namespace {

Bytes Key(uint64_t i) {
  Bytes key;
  AppendBig(&key, i, 4);
  return key;
}

TEST_CASE("no key of a filter is missed, and few of a million others pass") {
  for (const uint64_t count : {uint64_t{1}, uint64_t{10}, uint64_t{20'000}}) {
    std::vector<uint64_t> hashes;
    for (uint64_t i = 0; i < count; ++i) hashes.push_back(BloomHash(Key(i)));
    const Bytes bits = MakeBloom(hashes);
    CHECK(bits.size() <= count * 10 / 8 + 1);
    for (uint64_t i = 0; i < count; ++i) REQUIRE(BloomPasses(bits, BloomHash(Key(i))));
    if (count < 1000) continue;
    uint64_t passed = 0;
    for (uint64_t i = count; i < count + 1'000'000; ++i) {
      passed += BloomPasses(bits, BloomHash(Key(i))) ? 1 : 0;
    }
    CHECK(passed <= 15'000);
    CHECK(passed > 0);
  }
  CHECK(BloomPasses("", BloomHash("of no filter nothing is known")));
}

TEST_CASE("keys of any length have different hashes") {
  std::vector<uint64_t> hashes;
  for (size_t n = 0; n < 40; ++n) hashes.push_back(BloomHash(Bytes(n, 0)));
  std::sort(hashes.begin(), hashes.end());
  CHECK(std::unique(hashes.begin(), hashes.end()) == hashes.end());
}

}  // namespace
}  // namespace hg::lsm
