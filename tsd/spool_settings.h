#pragma once
// The settings of the spool (storage/hbase/spool.h), and a check for spools of earlier settings. If
// no daemon replays the points in a spool folder, they are missing in HBase. If a daemon replays
// them much later, they may overwrite newer points.

#include <optional>

#include "storage/base/file.h"
#include "storage/hbase/options.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns the options of the spool, below tsd.storage.path by default. Returns nullopt if the
/// spool is off or tsd.mode = ro. InvalidArgument: a setting is wrong, or points wait in a folder
/// that the last daemon on tsd.storage.path used and these settings do not. The error message names
/// that folder. With tsd.mode = ro, such points cause only a warning in the log.
Result<std::optional<hbase::SpoolOptions>> ReadSpoolOptions(const Config& config,
                                                            FileSystem& files = PosixFileSystem());

/// Records the folder of the spool in tsd.storage.path, unless the spool is below that path. A
/// later daemon with other settings can then find the spool. A failure is logged as a warning.
void NoteSpoolFolder(const Config& config, const std::string& folder, FileSystem& files);

}  // namespace hg::tsd
