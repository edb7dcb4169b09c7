#pragma once
// Which rollups this process makes by itself (tsd.rollups.automatic, docs/rollups.md).

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

/// The table of RollupState beside the table of points.
std::string RollupStateTable(const std::string& data_table);

/// InvalidArgument: no interval but the default one is configured; one does not divide a day, or
/// neither divides an hour nor is a number of hours; its rows do not hold a whole number of them,
/// or more than cells can number; its table is another's.
Status CheckAutomatic(const codec::RollupTables& tables, const std::string& data_table);

}  // namespace hg::tsd
