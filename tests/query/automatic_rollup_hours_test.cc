#include "query/rows/automatic_rollup_hours.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::query {
namespace {

constexpr uint32_t kHour = 3600, kDay = 24 * kHour;

class Levels {
 public:
  Levels() {
    minutes.name = "10m";
    minutes.interval.interval_s = 600;
    hours.name = "1h";
    hours.interval.interval_s = kHour;
    days.name = "1d";
    days.interval.interval_s = kDay;
    rolled.levels = {{&hours, 0, 60 * kHour}, {&days, 0, 2 * kDay}, {&minutes, kDay, 61 * kHour}};
  }
  /// "1d:0-48 raw:48-50": hours.
  std::string Text(uint32_t begin_hour, uint32_t end_hour, int64_t interval_s) const {
    std::string out;
    const RowRange rows = {begin_hour * kHour, uint64_t{end_hour} * kHour};
    for (const HoursPiece& piece : CoverHours(rolled, rows, interval_s)) {
      out += out.empty() ? "" : " ";
      out += (piece.level != nullptr ? piece.level->name : "raw") + ":" +
             std::to_string(piece.begin_s / kHour) + "-" + std::to_string(piece.end_s / kHour);
    }
    return out;
  }

  codec::RollupLevel minutes, hours, days;
  RolledHours rolled;
};

TEST_CASE_FIXTURE(Levels, "the longest interval that divides the bucket interval is read") {
  CHECK(Text(0, 48, kDay) == "1d:0-48");
  CHECK(Text(0, 48, 7 * kDay) == "1d:0-48");
  CHECK(Text(0, 48, 2 * kHour) == "1h:0-48");
  CHECK(Text(24, 48, 1800) == "10m:24-48");
  CHECK(Text(24, 48, 900) == "raw:24-48");
  CHECK(Text(24, 24, kDay) == "");
}

TEST_CASE_FIXTURE(Levels, "kept rollups are read at the shortest available intervals") {
  const auto kept = [this](uint32_t begin_hour, uint32_t end_hour) {
    std::string out;
    for (const HoursPiece& piece :
         CoverKept(rolled, {begin_hour * kHour, uint64_t{end_hour} * kHour}))
      out += piece.level->name + ":" + std::to_string(piece.begin_s / kHour) + "-" +
             std::to_string(piece.end_s / kHour) + " ";
    return out;
  };
  CHECK(kept(0, 48) == "");
  rolled.kept_before_s = 2 * kDay;
  CHECK(kept(0, 72) == "1h:0-24 10m:24-48 ");
  CHECK(kept(30, 40) == "10m:30-40 ");
  CHECK(kept(48, 72) == "");
  rolled.levels[0].begin_s = 6 * kHour;
  rolled.changed = {7 * kHour};
  CHECK(kept(0, 24) == "1h:6-24 ");
  rolled.levels.erase(rolled.levels.begin());
  CHECK(kept(0, 48) == "1d:0-24 10m:24-48 ");
}

TEST_CASE_FIXTURE(Levels, "after the complete rollups shorter ones are read, and then raw points") {
  CHECK(Text(0, 72, kDay) == "1d:0-48 1h:48-60 10m:60-61 raw:61-72");
  CHECK(Text(5, 30, kDay) == "1h:5-30");
  CHECK(Text(5, 50, kDay) == "1h:5-24 1d:24-48 1h:48-50");
  CHECK(Text(20, 26, 600) == "raw:20-24 10m:24-26");
}

TEST_CASE_FIXTURE(Levels,
                  "changed hours are read from raw points, and the rest of their day is not") {
  rolled.changed = {3 * kHour, 4 * kHour, 30 * kHour, 59 * kHour};
  CHECK(Text(0, 60, kDay) == "1h:0-3 raw:3-5 1h:5-30 raw:30-31 1h:31-59 raw:59-60");
  CHECK(Text(0, 48, kHour) == "1h:0-3 raw:3-5 1h:5-30 raw:30-31 1h:31-48");
  rolled.changed = {30 * kHour};
  CHECK(Text(0, 72, kDay) == "1d:0-24 1h:24-30 raw:30-31 1h:31-60 10m:60-61 raw:61-72");
  rolled.levels.pop_back();
  rolled.levels.erase(rolled.levels.begin());
  CHECK(Text(0, 48, kDay) == "1d:0-24 raw:24-48");
}

}  // namespace
}  // namespace hg::query
