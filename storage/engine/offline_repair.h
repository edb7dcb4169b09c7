#pragma once
// Repairs a damaged data directory so that it can be opened again. The repair moves damaged files
// to the folder "lost" of the directory, and writes the rows of their intact blocks to new files.
// Engine::Repair repairs an open store.

#include <string>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/maintenance.h"

namespace hg::engine {

/// Repairs the data directory `folder`. The repair leaves out files and blocks that cannot be read,
/// rebuilds the registry of series if numbers are missing, and cuts the log at the first damage. It
/// takes effect completely or not at all. Returns InvalidArgument if `folder` is not a data
/// directory, and Busy if a process has it open. Returns Corruption if the manifest is damaged, and
/// Unsupported if it has another version, because the set of files is then unknown.
Result<RepairReport> RepairDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::engine
