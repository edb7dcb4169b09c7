#pragma once
// How many files and sockets this process may have open, and how many of them clients may take.

#include <cstdint>

namespace hg::tsd {

/// Raises the limit as far as the system lets this process; what it is now.
uint64_t RaiseOpenFilesLimit();

/// Connections to serve at once: `wanted` (0 = as many as can be), but so that files of the store
/// can still be opened: a quarter of the limit is theirs, 1,024 at most.
uint64_t ConnectionsWithin(uint64_t open_files_max, uint64_t wanted);

}  // namespace hg::tsd
