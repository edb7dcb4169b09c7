#include "tsd/rollup/rollup_fill.h"

#include <doctest/doctest.h>

#include <vector>

namespace hg::tsd {
namespace {

codec::RollupLevel LevelOf(uint32_t interval_s) {
  codec::RollupLevel level;
  level.interval.interval_s = interval_s;
  return level;
}

TEST_CASE("rollups of a day take a few megabytes at once, however short their intervals are") {
  const RollupSpan day = {0, 86'400};
  const codec::RollupLevel hours = LevelOf(3600), days = LevelOf(86'400);
  for (const uint32_t finest_s : {1U, 2U, 5U, 10U, 60U, 600U}) {
    CAPTURE(finest_s);
    const codec::RollupLevel finest = LevelOf(finest_s);
    const RollupFill::Levels levels = {&finest, &hours, &days};
    const size_t series = RollupFill::SeriesAtOnce(day, levels);
    const size_t intervals = 86'400 / finest_s + 24 + 1;
    CHECK(series >= 3);
    CHECK(series * intervals * sizeof(RollupSum) < (size_t{32} << 20));
  }
  CHECK(RollupFill::SeriesAtOnce({0, 3600}, {&hours}) == RollupFill::kSeriesMax);
}

}  // namespace
}  // namespace hg::tsd
