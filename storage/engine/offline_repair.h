#pragma once
// Repairs a damaged data directory so that it can be opened again. Moves damaged files to its
// folder "lost" and never deletes them. Keeps intact blocks. Engine::Repair repairs an open store.

#include <string>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/maintenance.h"

namespace hg::engine {

/// Leaves out files and blocks that cannot be read, rebuilds the registry of series if numbers are
/// missing, and cuts the log at the first damage. The repair takes effect completely or not at all.
/// InvalidArgument: not a data directory. Corruption: the manifest is damaged, so the set of files
/// is unknown. Busy: a process has the directory open.
Result<RepairReport> RepairDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::engine
