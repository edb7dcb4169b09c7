#pragma once
// Parses tsd.rollups.config (opentsdb-schema.md §13.1). Pure function.

#include <string_view>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"

namespace hg::tsd {

/// Parses the JSON of the setting. The message of InvalidArgument describes the error: unknown
/// functions, ids that are not unique or not 0…127, intervals that are repeated or do not fit their
/// rows, or a number of defaults other than one.
Result<codec::RollupTables> ParseRollupConfig(std::string_view json);

}  // namespace hg::tsd
