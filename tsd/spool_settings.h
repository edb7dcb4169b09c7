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
/// InvalidArgument: a setting is invalid, or points wait in a folder that these settings do not
/// use. The function searches the default folder, and the folder that the last daemon on
/// tsd.storage.path used. The error message contains the folder. With tsd.mode = ro, waiting points
/// cause only a warning in the log.
Result<std::optional<hbase::SpoolOptions>> ReadSpoolOptions(const Config& config,
                                                            FileSystem& files = PosixFileSystem());

/// Records the folder of the spool in a file in tsd.storage.path, so that a later daemon with other
/// settings can find the spool. If there is no such file, later daemons search the default folder,
/// so the default folder need not be recorded. If recording fails, a warning is logged.
void NoteSpoolFolder(const Config& config, const std::string& folder, FileSystem& files);

}  // namespace hg::tsd
