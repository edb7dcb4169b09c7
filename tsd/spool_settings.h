#pragma once
// The spool's settings (storage/hbase/spool.h), and spools of earlier settings: points that wait in
// a folder which no daemon replays are missing, and come over newer ones once a daemon does.

#include <optional>

#include "storage/base/file.h"
#include "storage/hbase/options.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Where the daemon's points wait while HBase is away: below tsd.storage.path, unless the settings
/// say otherwise; none: nowhere, or tsd.mode = ro. InvalidArgument: a setting is wrong; or points
/// wait in a folder that the settings of the last daemon on tsd.storage.path named, and these do
/// not: the message names it. Where nothing is written to HBase that is a warning in the log.
Result<std::optional<hbase::SpoolOptions>> ReadSpoolOptions(const Config& config,
                                                            FileSystem& files = PosixFileSystem());

/// Notes in tsd.storage.path where the spool is, if that is elsewhere, for the next daemon's
/// settings may say otherwise. What cannot be noted is a warning in the log.
void NoteSpoolFolder(const Config& config, const std::string& folder, FileSystem& files);

}  // namespace hg::tsd
