#pragma once
// Verifies the files of a store without changing them. The check continues after damage, so that it
// reports all damage.

#include <string>

#include "storage/base/file.h"
#include "storage/engine/stored_files.h"
#include "storage/maintenance.h"

namespace hg::engine {

/// Verifies one file in `folder`: length, day index, each block and row. Adds damage to `report`.
/// Only errors of `context` end it.
Status CheckFile(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                 const StoredFile& file, CheckReport* report, RequestContext& context);

/// Verifies the manifest, every file, the series and (of a data directory) the log. Returns Busy if
/// another process has the directory open, InvalidArgument if `folder` is neither a data directory
/// nor a backup, and Unsupported if its manifest has another version.
Result<CheckReport> CheckDirectory(FileSystem& files, const std::string& folder);

}  // namespace hg::engine
