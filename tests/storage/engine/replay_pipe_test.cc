#include "storage/engine/replay_pipe.h"

#include <doctest/doctest.h>

#include <optional>

#include "tests/fault/no_threads.h"

namespace hg::points {

TEST_CASE("items of a lane are applied in order, with or without threads") {
  constexpr size_t kLanes = 2;
  constexpr uint64_t kItems = 1000;
  std::optional<NoThreads> none;
  SUBCASE("with threads") {}
  SUBCASE("without threads") { none.emplace(); }
  std::vector<uint64_t> applied[kLanes];
  {
    ReplayPipe pipe(kLanes, [&](const ReplayItem& item) {
      applied[item.sequence % kLanes].push_back(item.sequence);
    });
    for (uint64_t i = 0; i < kItems; ++i) {
      pipe.Next(i % kLanes).sequence = i;
      pipe.Add(i % kLanes);
      if (i == kItems / 2) none.reset();  // from here on threads can be started
    }
  }
  for (size_t lane = 0; lane < kLanes; ++lane) {
    REQUIRE(applied[lane].size() == kItems / kLanes);
    for (size_t i = 0; i < applied[lane].size(); ++i) CHECK(applied[lane][i] == kLanes * i + lane);
  }
}

}  // namespace hg::points
