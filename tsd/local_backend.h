#pragma once
// The store of a daemon on this machine, for tools that find the data directory in use. This store
// calls the daemon's cell store and maintenance functions over a local socket (storage/local). It
// implements points with PointsOverCells.

#include <memory>

#include "tsd/backend.h"

namespace hg::tsd {

/// Connects to the daemon that serves tsd.storage.path. NotFound: no daemon serves this path.
/// InvalidArgument: the daemon has another key layout than these settings. Unsupported: the daemon
/// has another version than this program.
Result<std::unique_ptr<Backend>> OpenLocalBackend(const Config& config);

}  // namespace hg::tsd
