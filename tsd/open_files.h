#pragma once
// The limit of open files and sockets of this process, and the share of it that clients may use.

#include <cstdint>

namespace hg::tsd {

/// Raises the limit of open files to the system's maximum for the process. Returns the new limit.
uint64_t RaiseOpenFilesLimit();

/// Returns the maximum number of connections. `wanted` is the configured number; 0 means as many as
/// possible. A quarter of the limit (not more than 1,024) is reserved for files of the store.
uint64_t ConnectionsWithin(uint64_t open_files_max, uint64_t wanted);

}  // namespace hg::tsd
