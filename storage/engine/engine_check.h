#pragma once
// Are the files whole? Reads all of them, changes nothing. One damaged block does not end it: every
// damage is found.

#include <string>

#include "storage/base/file.h"
#include "storage/engine/stored_files.h"
#include "storage/maintenance.h"

namespace hg::points {

/// Verifies one file of a folder: its length, every block, every row in it.
void CheckFile(FileSystem& files, const std::string& folder, const KeyLayout& layout,
               const StoredFile& file, CheckReport* report);

/// Verifies a data directory, or a backup, that no process has open: its manifest, every file, the
/// series, the log. Busy: a process has it. InvalidArgument: it is neither.
Result<CheckReport> CheckDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::points
