#pragma once
// The limit of open files and sockets of this process, and how many of them client connections may
// use.

#include <cstdint>

namespace hg::tsd {

/// Raises the limit of open files to the maximum that the system allows for the process. Returns
/// the new limit, or the current limit if it cannot be raised. Returns UINT64_MAX if the limit
/// cannot be read.
uint64_t RaiseOpenFilesLimit();

/// Returns the maximum number of client connections. `wanted` is the configured number; 0 means as
/// many as possible. A quarter of `open_files_max`, but at most 1,024, is reserved for the files of
/// the store.
uint64_t ConnectionsWithin(uint64_t open_files_max, uint64_t wanted);

}  // namespace hg::tsd
