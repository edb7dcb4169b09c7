#pragma once
// Implements the command `restore` for a data directory that a daemon uses. Data that the daemon
// lacks is written through the daemon while clients of the daemon write. Existing data is never
// replaced.

#include <chrono>
#include <string>

#include "storage/maintenance.h"
#include "tsd/command.h"

namespace hg::tsd {

/// The time between two progress reports of a backup or a restore.
inline constexpr auto kProgressInterval = std::chrono::seconds(1);

struct RestoredRows {
  uint64_t rows = 0;  // number of rows in the backup
  /// Number of rows to which at least one missing item was written; includes `missing`.
  uint64_t written = 0;
  uint64_t missing = 0;  // number of rows in the backup that the daemon did not have at all
};

/// Restores the backup. The session of `call` must not be open. The backup is first copied into a
/// folder below the data directory and verified there. The copy uses hard links; if hard links are
/// not possible, the copy temporarily takes disk space. Data that is left out is reported on the
/// error stream. Busy: another restore of this kind is running.
Result<RestoredRows> RestoreBeside(Invocation& call, const std::string& backup,
                                   const CopyWatch& watch);

}  // namespace hg::tsd
