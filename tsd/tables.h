#pragma once
// The tables of OpenTSDB (opentsdb-schema.md §2), with the names that the settings give them.

#include <set>
#include <string>
#include <vector>

#include "storage/base/status.h"
#include "storage/store.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns the tables for data, ids, metadata and trees. If rollups are configured, the result also
/// has the tables of the rollups. For automatic rollups, it also has the table of their state.
/// InvalidArgument: tsd.rollups.config is invalid.
Result<std::vector<TableDescriptor>> DescribeTables(const Config& config);

/// Returns the names of the tables of pre-aggregates, which only clients write. InvalidArgument:
/// tsd.rollups.config is invalid.
Result<std::set<std::string>> PreAggregateTables(const Config& config);

/// Creates the table if the store has no table with this name.
Status EnsureTable(const TableDescriptor& table, Store& store);

/// Returns Conflict if the table has at least one row, and OK if the table is empty.
Status CheckTableEmpty(Store& store, const std::string& table);

}  // namespace hg::tsd
