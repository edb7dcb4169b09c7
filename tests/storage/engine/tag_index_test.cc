#include "storage/engine/tag_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

namespace hg::engine {
namespace {

Bytes NameId(uint32_t number) {
  Bytes id;
  AppendBig(&id, number, 3);
  return id;
}

SeriesMatcher OneOf(const Bytes& value) {
  SeriesMatcher matcher;
  matcher.clauses.push_back({NameId(1), TagClause::Kind::kOneOf, {value}});
  return matcher;
}

}  // namespace

TEST_CASE("series are found by a tag, however many tag sets have it") {
  constexpr uint32_t kMost = 70;  // a single number, a list, a bitmap
  TagIndex index{KeyLayout()};
  std::deque<Bytes> tsuids;
  for (uint32_t i = 1; i <= kMost; ++i) {
    for (uint32_t value = i; value <= kMost; ++value) {
      tsuids.push_back(NameId(1) + NameId(1) + NameId(value) + NameId(2) + NameId(i));
      index.Add(static_cast<uint32_t>(tsuids.size() - 1), tsuids.back());
    }
    for (uint32_t value = 1; value <= kMost + 1; ++value) {
      const auto found = index.Match(NameId(1), OneOf(NameId(value)));
      REQUIRE(found.size() == (value > kMost ? 0 : std::min(i, value)));
      for (const uint32_t number : found) REQUIRE(tsuids[number].substr(6, 3) == NameId(value));
    }
  }
  CHECK(index.Match(NameId(1), OneOf(NameId(1) + NameId(2))).empty());
  CHECK(index.Match(NameId(1), OneOf("")).empty());
}

TEST_CASE("a tag of one host takes few bytes") {
  constexpr uint32_t kHosts = 20'000;
  TagIndex index{KeyLayout()};
  std::deque<Bytes> tsuids;
  for (uint32_t i = 0; i < kHosts; ++i) {
    tsuids.push_back(NameId(1) + NameId(1) + NameId(i));
    index.Add(i, tsuids.back());
  }
  CHECK(index.bytes() < 120 * kHosts);
}

}  // namespace hg::engine
