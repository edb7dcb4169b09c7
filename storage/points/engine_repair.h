#pragma once
// Makes a damaged data directory one that opens (engine.md §9 "Rebuild"). What is damaged is moved
// to its folder "lost", never deleted; what is whole is kept, block by block.

#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"

namespace hg::points {

inline constexpr char kLostFolder[] = "lost";

struct RepairReport {
  std::vector<std::string> done;  // what was set aside, rewritten, rebuilt; empty = nothing
  std::vector<std::string> lost;  // what cannot be read any more
};

/// Files and blocks that cannot be read are left out, the registry of series is rebuilt if it has a
/// hole, the log is cut where it is damaged. Either all of this holds afterwards or nothing.
/// InvalidArgument: no data directory. Corruption: the manifest is damaged, so that nobody can say
/// what the files are. Busy: a process has the directory.
Result<RepairReport> RepairDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::points
