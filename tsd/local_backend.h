#pragma once
// The store of a daemon on this machine, for tools that find the data directory in use. The store
// uses the daemon's cell store and maintenance functions over a local socket (storage/local), and
// implements points with PointsOverCells.

#include <memory>

#include "tsd/backend.h"

namespace hg::tsd {

/// Connects to the daemon. NotFound: no daemon serves tsd.storage.path. InvalidArgument: the daemon
/// has settings with another key layout. Unsupported: the daemon has another version.
Result<std::unique_ptr<Backend>> OpenLocalBackend(const Config& config);

}  // namespace hg::tsd
