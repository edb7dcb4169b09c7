#pragma once
// The tables that OpenTSDB keeps (spec schema.md §2), under the names that the settings give them.

#include <vector>

#include "storage/base/status.h"
#include "storage/store.h"
#include "tsd/config.h"

namespace hg::tsd {

/// The text of tsd.rollups.config, out of its file if the setting names one (spec schema.md §13.1).
/// IoError: it cannot be read.
Result<std::string> ReadRollupText(const Config& config);

/// Data, ids, metadata and trees; with rollups enabled their tables too. InvalidArgument:
/// tsd.rollups.config cannot be understood.
Result<std::vector<TableDescriptor>> DescribeTables(const Config& config);

/// Creates those that are missing.
Status EnsureTables(const Config& config, Store& store);

}  // namespace hg::tsd
