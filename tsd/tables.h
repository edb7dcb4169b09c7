#pragma once
// The tables of OpenTSDB (opentsdb-schema.md §2), with the names from the settings.

#include <vector>

#include "storage/base/status.h"
#include "storage/store.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns the tables for data, ids, metadata and trees. If rollups are configured, also returns
/// their tables, and for automatic rollups the table of their state. InvalidArgument:
/// tsd.rollups.config is invalid.
Result<std::vector<TableDescriptor>> DescribeTables(const Config& config);

/// Creates the table if no table with its name exists.
Status EnsureTable(const TableDescriptor& table, Store& store);

/// Returns Conflict if the table has at least one row.
Status CheckTableEmpty(Store& store, const std::string& table);

}  // namespace hg::tsd
