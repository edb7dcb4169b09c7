#pragma once
// Parses the setting tsd.rollups.config (opentsdb-schema.md §13.1). The function is pure.

#include <string_view>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"

namespace hg::tsd {

/// Parses the JSON text of the setting. The message of InvalidArgument describes the error.
/// Examples of errors are: an unknown function, an id that is repeated or not in 0…127, a repeated
/// interval, a row with fewer than 12 or more than 7774 intervals, or a number of default intervals
/// other than one.
Result<codec::RollupTables> ParseRollupConfig(std::string_view json);

}  // namespace hg::tsd
