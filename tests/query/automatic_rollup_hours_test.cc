#include "query/rows/automatic_rollup_hours.h"

#include <doctest/doctest.h>

#include <string>

#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

constexpr uint32_t kHourS = 3600;

class Levels {
 public:
  Levels() {
    minutes.name = "10m";
    minutes.interval.interval_s = 600;
    hours.name = "1h";
    hours.interval.interval_s = kHourS;
    days.name = "1d";
    days.interval.interval_s = kDayS;
    rolled.levels = {
        {&hours, 0, 60 * kHourS}, {&days, 0, 2 * kDayS}, {&minutes, kDayS, 61 * kHourS}};
  }
  /// "1d:0-48 raw:48-50": hours.
  std::string Text(uint32_t begin_hour, uint32_t end_hour, int64_t interval_s) const {
    std::string out;
    const RowRange rows = {begin_hour * kHourS, uint64_t{end_hour} * kHourS};
    for (const HoursPiece& piece : CoverHours(rolled, rows, interval_s)) {
      out += out.empty() ? "" : " ";
      out += (piece.level != nullptr ? piece.level->name : "raw") + ":" +
             std::to_string(piece.begin_s / kHourS) + "-" + std::to_string(piece.end_s / kHourS);
    }
    return out;
  }

  codec::RollupLevel minutes, hours, days;
  RolledHours rolled;
};

TEST_CASE_FIXTURE(Levels, "the longest interval that divides the bucket interval is read") {
  CHECK(Text(0, 48, kDayS) == "1d:0-48");
  CHECK(Text(0, 48, 7 * kDayS) == "1d:0-48");
  CHECK(Text(0, 48, 2 * kHourS) == "1h:0-48");
  CHECK(Text(24, 48, 1800) == "10m:24-48");
  CHECK(Text(24, 48, 900) == "raw:24-48");
  CHECK(Text(24, 24, kDayS) == "");
}

TEST_CASE_FIXTURE(Levels, "kept rollups are read at the shortest available intervals") {
  const auto kept = [this](uint32_t begin_hour, uint32_t end_hour) {
    std::string out;
    for (const HoursPiece& piece :
         CoverKept(rolled, {begin_hour * kHourS, uint64_t{end_hour} * kHourS}))
      out += piece.level->name + ":" + std::to_string(piece.begin_s / kHourS) + "-" +
             std::to_string(piece.end_s / kHourS) + " ";
    return out;
  };
  CHECK(kept(0, 48) == "");
  rolled.kept_before_s = 2 * kDayS;
  CHECK(kept(0, 72) == "1h:0-24 10m:24-48 ");
  CHECK(kept(30, 40) == "10m:30-40 ");
  CHECK(kept(48, 72) == "");
  rolled.levels[0].begin_s = 6 * kHourS;
  rolled.changed = {7 * kHourS};
  CHECK(kept(0, 24) == "1h:6-24 ");
  rolled.levels.erase(rolled.levels.begin());
  CHECK(kept(0, 48) == "1d:0-24 10m:24-48 ");
}

TEST_CASE_FIXTURE(
    Levels, "after the complete rollups of days, shorter rollups are read, and then raw points") {
  CHECK(Text(0, 72, kDayS) == "1d:0-48 1h:48-60 10m:60-61 raw:61-72");
  CHECK(Text(5, 30, kDayS) == "1h:5-30");
  CHECK(Text(5, 50, kDayS) == "1h:5-24 1d:24-48 1h:48-50");
  CHECK(Text(20, 26, 600) == "raw:20-24 10m:24-26");
}

TEST_CASE_FIXTURE(
    Levels,
    "changed hours are read from raw points, and the rest of their day from shorter rollups") {
  rolled.changed = {3 * kHourS, 4 * kHourS, 30 * kHourS, 59 * kHourS};
  CHECK(Text(0, 60, kDayS) == "1h:0-3 raw:3-5 1h:5-30 raw:30-31 1h:31-59 raw:59-60");
  CHECK(Text(0, 48, kHourS) == "1h:0-3 raw:3-5 1h:5-30 raw:30-31 1h:31-48");
  rolled.changed = {30 * kHourS};
  CHECK(Text(0, 72, kDayS) == "1d:0-24 1h:24-30 raw:30-31 1h:31-60 10m:60-61 raw:61-72");
  rolled.levels.pop_back();
  rolled.levels.erase(rolled.levels.begin());
  CHECK(Text(0, 48, kDayS) == "1d:0-24 raw:24-48");
}

}  // namespace
}  // namespace hg::query
