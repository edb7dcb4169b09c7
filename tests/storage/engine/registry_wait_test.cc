#include <doctest/doctest.h>

#include "storage/engine/registry.h"
#include "tests/support/fake_watch.h"

namespace hg::engine {
namespace {

Bytes Id(uint32_t number) {
  return {static_cast<char>(number >> 16), static_cast<char>(number >> 8),
          static_cast<char>(number)};
}

TEST_CASE("on an event loop, only few series are examined") {
  Registry registry{KeyLayout()};
  for (uint32_t i = 1; i <= Registry::kFewSeries + 1; ++i) registry.Add(Id(7) + Id(1) + Id(i));
  registry.Add(Id(8) + Id(1) + Id(1));
  const SeriesMatcher all;
  SeriesMatcher two;
  two.clauses.push_back({Id(1), TagClause::Kind::kOneOf, {Id(1), Id(2)}});
  FakeWatch may_wait, on_loop;
  CHECK(registry.MayMatch(Id(7), all, nullptr).ok());
  CHECK(registry.MayMatch(Id(7), all, &may_wait).ok());
  CHECK(registry.Match(Id(7), two).numbers == std::vector<uint32_t>{0, 1});
  CHECK(registry.Match("", two).numbers == std::vector<uint32_t>{0, 1, Registry::kFewSeries + 1});
  CHECK(registry.Match(Id(9), two).numbers.empty());
  on_loop.StayOnLoop();
  CHECK(registry.MayMatch(Id(7), two, &on_loop).ok());
  CHECK(registry.MayMatch(Id(8), all, &on_loop).ok());
  CHECK(registry.MayMatch(Id(9), all, &on_loop).ok());
  CHECK_FALSE(on_loop.refused());
  CHECK_FALSE(registry.MayMatch(Id(7), all, &on_loop).ok());
  CHECK(on_loop.refused());
}

}  // namespace
}  // namespace hg::engine
