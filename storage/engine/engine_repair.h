#pragma once
// Makes a damaged data directory one that opens (engine.md §9 "Rebuild"). What is damaged is moved
// to its folder "lost", never deleted; what is whole is kept, block by block. Of an open store:
// Engine::Repair.

#include <string>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/maintenance.h"

namespace hg::points {

/// Files and blocks that cannot be read are left out, the registry of series is rebuilt if it has a
/// hole, the log is cut where it is damaged. Either all of this holds afterwards or nothing.
/// InvalidArgument: no data directory. Corruption: the manifest is damaged, so that nobody can say
/// what the files are. Busy: a process has the directory.
Result<RepairReport> RepairDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::points
