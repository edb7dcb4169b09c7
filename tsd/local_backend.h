#pragma once
// The store of a daemon on this machine, for a tool that found the data directory in use: its cells
// door and maintenance over the socket there (storage/local), points by the codec on top.

#include <memory>

#include "tsd/backend.h"

namespace hg::tsd {

/// NotFound: no daemon serves in tsd.storage.path. InvalidArgument: its settings have other widths.
/// Unsupported: it is of another version.
Result<std::unique_ptr<Backend>> OpenLocalBackend(const Config& config);

}  // namespace hg::tsd
