#pragma once
// Options of automatic rollups. Automatic rollups are rollups that this process computes itself
// (tsd.rollups.automatic, docs/rollups.md).

#include <cstdint>
#include <string>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

struct AutomaticRollups {
  codec::RollupTables tables;
  RollupIds ids;
  std::string state_table;
  int64_t delay_s = 600;  // value of tsd.rollups.automatic.delay in seconds
};

/// Returns the name of the table in which RollupState is stored for a table of points.
std::string RollupStateTable(const std::string& data_table);

/// Checks whether automatic rollups are possible with these tables. Returns InvalidArgument in each
/// of these cases:
/// - No interval is configured except the default interval.
/// - An interval does not divide a day, or it neither divides an hour nor is a number of hours.
/// - A row does not hold a whole number of intervals, or it holds more intervals than the qualifier
///   of a rollup cell can number.
/// - The table of an interval is also used for something else.
Status CheckAutomatic(const codec::RollupTables& tables, const std::string& data_table);

}  // namespace hg::tsd
