// With any writes, deletes and killed processes, rollups give the same results as raw points.

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/tsd/rollup/rollup_world.h"

namespace hg::tsd {
namespace {

TEST_CASE(
    "with random writes, late writes and deletes, rollups give the same results as raw points") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto upto = [&random](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    FaultyFileSystem disk(seed);
    ManualClock clock{kMidnight * 1000};
    RollupWorld world(disk, clock);
    if (seed % 2 == 0) world.layout.salt_width = 1;
    REQUIRE(world.Open().ok());
    const std::vector<std::string> hosts = {"a", "b", "c"};
    const std::vector<std::string> functions = {"sum",    "avg",    "min", "max",  "count",
                                                "zimsum", "mimmax", "p50", "first"};
    const std::vector<std::string> intervals = {"10m", "30m", "1h", "90m", "2h", "1d",
                                                "1dc", "7h",  "2d", "1w",  "6h", "5m"};
    const std::vector<std::string> fills = {"", "-nan", "-zero"};
    const int64_t first = kMidnight - 3 * kDayS;
    const auto now = [&clock] { return clock.NowMs() / 1000; };
    std::map<std::string, int> tables;
    for (int step = 0; step < 400; ++step) {
      const std::string& host = hosts[static_cast<size_t>(upto(3))];
      const int64_t at = first + upto(now() - first);
      switch (upto(12)) {
        case 0:
          clock.AdvanceMs(upto(3 * kHourS) * 1000);
          break;
        case 1:
        case 2:
          REQUIRE(world.maker->Round().ok());
          break;
        case 3:
          REQUIRE(world.Delete(host, at - at % kHourS, at + upto(5 * kHourS)).ok());
          break;
        case 4:
          if (upto(4) == 0) REQUIRE(world.store->cells().Flush().ok());
          break;
        case 5:
          if (upto(6) == 0) REQUIRE(world.Reopen().ok());
          break;
        case 6:
          for (int i = 0; i < 200; ++i)
            REQUIRE(world.PutInt(host, now() - 600 + i, upto(100)).ok());
          break;
        default:
          for (int i = 0; i < 20; ++i) {
            // The fractions are multiples of 0.25, so sums of doubles are exact in any order.
            const PointValue value = upto(3) == 0
                                         ? PointValue::Double(static_cast<double>(upto(4000)) / 4)
                                         : PointValue::Int(upto(1000) - 500);
            REQUIRE(world.Put("m", host, at + upto(7200), value).ok());
          }
      }
      for (int i = 0; i < 3; ++i) {
        query::SubQuery query = RollupWorld::Query(intervals[static_cast<size_t>(upto(12))] + "-" +
                                                       functions[static_cast<size_t>(upto(9))] +
                                                       fills[static_cast<size_t>(upto(3))],
                                                   upto(2) == 0, upto(2) == 0 ? "sum" : "max");
        query.rate = upto(4) == 0;
        const int64_t start = first - kDayS + upto(6 * kDayS);
        ++tables[world.Compare(query, start, start + 1 + upto(4 * kDayS))];
      }
    }
    CHECK(tables["10m"] > 10);
    CHECK(tables["1h"] > 10);
    CHECK(tables["1d"] > 10);
  }
}

/// Executes the steps between two ends of the process. The first failure ends them, like a killed
/// process.
Status Live(RollupWorld& world, ManualClock& clock) {
  RETURN_IF_ERROR(world.Open());
  for (int hour = -2; hour < 4; ++hour) {
    RETURN_IF_ERROR(world.PutInt("a", kMidnight + hour * kHourS, hour));
    RETURN_IF_ERROR(world.PutInt("b", kMidnight + hour * kHourS + 1, 2 * hour));
  }
  clock.SetMs((kMidnight + 2 * kHourS) * 1000);
  RETURN_IF_ERROR(world.maker->Round());
  RETURN_IF_ERROR(world.PutInt("a", kMidnight - kHourS + 5, 10));
  RETURN_IF_ERROR(world.PutInt("a", kMidnight + 5, 100));
  RETURN_IF_ERROR(world.maker->Round());
  RETURN_IF_ERROR(world.PutInt("b", kMidnight + 6, 1000));
  RETURN_IF_ERROR(world.store->cells().Flush());
  RETURN_IF_ERROR(world.Delete("b", kMidnight - kDayS, kMidnight));
  clock.SetMs((kMidnight + kDayS + 700) * 1000);
  RETURN_IF_ERROR(world.maker->Round());
  RETURN_IF_ERROR(world.PutInt("c", kMidnight + 3 * kHourS + 9, 7));
  RETURN_IF_ERROR(world.store->cells().Flush());
  return world.maker->Round();
}

TEST_CASE("wherever the process ends, the next one reads correct rollups or raw points") {
  for (const bool power_cut : {false, true}) {
    bool lived = false;
    for (uint64_t call = 1; !lived; ++call) {
      CAPTURE(power_cut);
      CAPTURE(call);
      FaultyFileSystem disk(call);
      ManualClock clock{kMidnight * 1000};
      RollupWorld world(disk, clock, power_cut ? Durability::kSynced : Durability::kLogged);
      disk.DieAtCall(call);
      lived = Live(world, clock).ok();
      world.Die();
      if (power_cut) disk.PowerCut();
      disk.FailCall(0);
      REQUIRE(world.Open().ok());
      const auto compare = [&world] {
        std::string last;
        for (const char* downsample : {"10m-sum", "1h-count", "2h-avg", "1d-max"})
          last = world.Compare(RollupWorld::Query(downsample, true), kMidnight - 2 * kDayS,
                               kMidnight + kDayS - 1);
        return last;
      };
      // If the process ended before the first name was written, nothing can be queried.
      REQUIRE(world.Tsuid("m", "a").ok());
      compare();
      REQUIRE(world.PutInt("a", kMidnight + kHourS + 17, 3).ok());
      compare();
      clock.SetMs((kMidnight + kDayS + 700) * 1000);
      REQUIRE(world.maker->Round().ok());
      CHECK(world.state->markers() == 0);
      CHECK(compare() == "1d");
    }
  }
}

}  // namespace
}  // namespace hg::tsd
