#pragma once
// Reads the settings of the spool (storage/hbase/spool.h), and checks for spools that were used
// with earlier settings. If no daemon replays the points in a spool folder, these points are
// missing in HBase. If a daemon replays them much later, they may overwrite newer points.

#include <optional>

#include "storage/base/file.h"
#include "storage/hbase/options.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns the options of the spool. By default, the spool is below tsd.storage.path. Returns
/// nullopt if the spool is off, or if tsd.mode = ro.
///
/// InvalidArgument: a setting is invalid, or points wait in the folder that the last daemon on
/// tsd.storage.path used, and these settings do not use this folder. The error message contains the
/// folder. With tsd.mode = ro, waiting points cause only a warning in the log.
Result<std::optional<hbase::SpoolOptions>> ReadSpoolOptions(const Config& config,
                                                            FileSystem& files = PosixFileSystem());

/// Records the folder of the spool in tsd.storage.path, unless the spool is below tsd.storage.path.
/// A later daemon with other settings can then find the spool. If recording fails, a warning is
/// logged.
void NoteSpoolFolder(const Config& config, const std::string& folder, FileSystem& files);

}  // namespace hg::tsd
