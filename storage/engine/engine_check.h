#pragma once
// Verifies the files of a store without changing them. Continues after damage, so that all damage
// is reported.

#include <string>

#include "storage/base/file.h"
#include "storage/engine/stored_files.h"
#include "storage/maintenance.h"

namespace hg::engine {

/// Verifies one file in `folder`: its length, every block and every row.
void CheckFile(FileSystem& files, const std::string& folder, const KeyLayout& layout,
               const StoredFile& file, CheckReport* report);

/// Verifies a data directory, or a backup: its manifest, every file, the series and the log. Busy:
/// another process has it open. InvalidArgument: it is neither a data directory nor a backup.
Result<CheckReport> CheckDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::engine
