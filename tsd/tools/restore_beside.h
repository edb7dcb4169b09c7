#pragma once
// `restore` into a data directory that a daemon uses. Data that the daemon lacks is written through
// the daemon while its clients write. Existing data is never replaced.

#include <string>

#include "storage/maintenance.h"
#include "tsd/command.h"

namespace hg::tsd {

struct RestoredRows {
  uint64_t rows = 0;     // rows in the backup
  uint64_t written = 0;  // rows that were written because something was missing
  uint64_t missing = 0;  // rows among them that were missing completely
};

/// The session of the call must not be open. The backup is first copied below the data directory by
/// hard links, or, if those are impossible, as a real copy that temporarily takes disk space. It is
/// verified there. The error stream reports what is left out. Busy: another such call is running.
Result<RestoredRows> RestoreBeside(Invocation& call, const std::string& backup,
                                   const CopyWatch& watch);

}  // namespace hg::tsd
