#include "storage/engine/replay_pipe.h"

#include <doctest/doctest.h>

#include <optional>

#include "tests/fault/no_threads.h"

namespace hg::engine {

TEST_CASE("items of a shard are applied in order, with or without threads") {
  constexpr size_t kShards = 2;
  constexpr uint64_t kItems = 1000;
  std::optional<NoThreads> none;
  SUBCASE("with threads") {}
  SUBCASE("without threads") { none.emplace(); }
  std::vector<uint64_t> applied[kShards];
  {
    ReplayPipe pipe(kShards, [&](const ReplayItem& item) {
      applied[item.sequence % kShards].push_back(item.sequence);
    });
    for (uint64_t i = 0; i < kItems; ++i) {
      pipe.Next(i % kShards).sequence = i;
      pipe.Add(i % kShards);
      if (i == kItems / 2) none.reset();  // from here on threads can be started
    }
  }
  for (size_t shard = 0; shard < kShards; ++shard) {
    REQUIRE(applied[shard].size() == kItems / kShards);
    for (size_t i = 0; i < applied[shard].size(); ++i)
      CHECK(applied[shard][i] == kShards * i + shard);
  }
}

}  // namespace hg::engine
