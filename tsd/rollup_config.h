#pragma once
// Reads tsd.rollups.config (spec schema.md §13.1). Pure.

#include <string_view>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"

namespace hg::tsd {

/// InvalidArgument says what is wrong in the JSON text: unknown functions, ids that are not 0…127
/// or not unique, intervals that are repeated or do not fit their rows, not exactly one default.
Result<codec::RollupTables> ParseRollupConfig(std::string_view json);

}  // namespace hg::tsd
