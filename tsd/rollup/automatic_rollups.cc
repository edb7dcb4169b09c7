#include "tsd/rollup/automatic_rollups.h"

#include <set>

#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"

namespace hg::tsd {
namespace {

Status CheckLevel(const codec::RollupLevel& level) {
  const uint32_t interval_s = level.interval.interval_s;
  const auto refuse = [&level](const std::string& why) {
    return Status::InvalidArgument(
        "tsd.rollups.automatic cannot compute the rollups of interval \"" + level.name +
        "\": " + why);
  };
  if (kDayS % interval_s != 0) return refuse("it does not divide a day");
  if (kRowSpan % interval_s != 0 && interval_s % kRowSpan != 0)
    return refuse("it neither divides an hour nor is a number of hours");
  if (level.interval.unit == codec::RollupSpanUnit::kHours &&
      level.interval.span_count * kRowSpan % interval_s != 0)
    return refuse("a row does not contain a whole number of intervals");
  if (level.interval.intervals_max > codec::kRollupIndexMax + 1)
    return refuse("a row would contain " + std::to_string(level.interval.intervals_max) +
                  " intervals, more than " + std::to_string(codec::kRollupIndexMax + 1));
  return {};
}

}  // namespace

std::string RollupStateTable(const std::string& data_table) { return data_table + "-rollups"; }

Status CheckAutomatic(const codec::RollupTables& tables, const std::string& data_table) {
  std::set<std::string> taken = {data_table, RollupStateTable(data_table)};
  bool any = false;
  for (const codec::RollupLevel& level : tables.levels) {
    if (level.is_default) continue;
    any = true;
    RETURN_IF_ERROR(CheckLevel(level));
    if (!taken.insert(level.table).second) {
      return Status::InvalidArgument("tsd.rollups.automatic needs a table for each interval: \"" +
                                     level.table + "\", the table of \"" + level.name +
                                     "\", is used twice or for other data");
    }
  }
  if (any) return {};
  return Status::InvalidArgument(
      "tsd.rollups.automatic needs an interval in addition to the default one in "
      "tsd.rollups.config");
}

}  // namespace hg::tsd
