#pragma once
// `restore` into a directory that a daemon has: what the backup has and the daemon has not is put
// there, by way of the daemon, while its clients write. Nothing that is there is replaced.

#include <string>

#include "storage/maintenance.h"
#include "tsd/command.h"

namespace hg::tsd {

struct RestoredRows {
  uint64_t rows = 0;     // of the backup
  uint64_t written = 0;  // of them, because something was missing
  uint64_t missing = 0;  // of these, because all of it was
};

/// The call's session is not open yet. The backup is verified first, as a store of its own below
/// the data directory; where hard links cannot be that takes its room for the time. What is left
/// out is said on the error stream. Busy: another call is at it.
Result<RestoredRows> RestoreBeside(Invocation& call, const std::string& backup,
                                   const CopyWatch& watch);

}  // namespace hg::tsd
