#pragma once
// The tables that OpenTSDB keeps (spec schema.md §2), under the names that the settings give them.

#include <vector>

#include "storage/base/status.h"
#include "storage/store.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Data, ids, metadata and trees; with rollups enabled their tables too, and where they are made
/// here what is known of them. InvalidArgument:
/// tsd.rollups.config cannot be understood.
Result<std::vector<TableDescriptor>> DescribeTables(const Config& config);

/// Creates those that are missing.
Status EnsureTables(const Config& config, Store& store);

/// Creates it, if there is none of its name.
Status EnsureTable(const TableDescriptor& table, Store& store);

/// Conflict: the table has a row.
Status CheckTableEmpty(Store& store, const std::string& table);

}  // namespace hg::tsd
