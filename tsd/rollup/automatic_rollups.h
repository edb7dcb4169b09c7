#pragma once
// Options of automatic rollups: rollups that this process computes itself (tsd.rollups.automatic,
// docs/rollups.md).

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
  int64_t delay_s = 600;  // tsd.rollups.automatic.delay
};

/// Returns the name of the table of RollupState that belongs to a table of points.
std::string RollupStateTable(const std::string& data_table);

/// Checks whether automatic rollups are possible with these tables. Returns InvalidArgument if
/// - no interval besides the default one is configured
/// - an interval does not divide a day, or neither divides an hour nor is a number of hours
/// - a row does not hold a whole number of intervals, or holds more intervals than a cell can
///   number
/// - the table of an interval is also used for something else
Status CheckAutomatic(const codec::RollupTables& tables, const std::string& data_table);

}  // namespace hg::tsd
