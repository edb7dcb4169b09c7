#pragma once
// Limits of open files and sockets of this process, and the share for clients.

#include <cstdint>

namespace hg::tsd {

/// Raises the limit of open files as far as the system allows. Returns the new limit.
uint64_t RaiseOpenFilesLimit();

/// Returns the maximum number of connections. `wanted` is the configured number; 0 means as many as
/// possible. A quarter of the limit, at most 1,024, stays reserved for files of the store.
uint64_t ConnectionsWithin(uint64_t open_files_max, uint64_t wanted);

}  // namespace hg::tsd
