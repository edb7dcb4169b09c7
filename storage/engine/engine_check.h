#pragma once
// Verifies the files of a store without changing them. The check continues after damage, so that it
// reports all damage.

#include <string>

#include "storage/base/file.h"
#include "storage/engine/stored_files.h"
#include "storage/maintenance.h"

namespace hg::engine {

/// Verifies one file in `folder`: its length, every block and every row. Adds damage to `report`.
void CheckFile(FileSystem& files, const std::string& folder, const KeyLayout& layout,
               const StoredFile& file, CheckReport* report);

/// Verifies the manifest, every file, the series and the log of a data directory or a backup.
/// Returns Busy if another process has the directory open. Returns InvalidArgument if `folder` is
/// neither a data directory nor a backup.
Result<CheckReport> CheckDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::engine
