#pragma once
// Implements `restore` for a data directory that a daemon uses. Data that the daemon lacks is
// written through the daemon while its clients write. Existing data is never replaced.

#include <chrono>
#include <string>

#include "storage/maintenance.h"
#include "tsd/command.h"

namespace hg::tsd {

/// Time between two reports of the progress of a backup or a restore.
inline constexpr auto kProgressInterval = std::chrono::seconds(1);

struct RestoredRows {
  uint64_t rows = 0;     // rows in the backup
  uint64_t written = 0;  // rows to which at least one missing item was written; includes `missing`
  uint64_t missing = 0;  // rows of the backup of which the daemon had no data at all
};

/// Restores the backup. The session of the call must not be open. The backup is first copied into a
/// folder below the data directory and verified there. The copy uses hard links; if these are
/// impossible, it temporarily takes disk space. Data that is left out is reported on the error
/// stream. Busy: another such call is running.
Result<RestoredRows> RestoreBeside(Invocation& call, const std::string& backup,
                                   const CopyWatch& watch);

}  // namespace hg::tsd
