#pragma once
// The engine that the settings ask for.

#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener: tsd.storage.backend says which. InvalidArgument: it names none.
Result<std::unique_ptr<Backend>> OpenBackend(const Config& config, const std::string& words,
                                             StoreUse use);

/// As OpenBackend, for a tool: where a daemon holds the data directory, the store by way of it
/// (local_backend.h). A command that needs the directory alone asks Backend::beside_daemon.
Result<std::unique_ptr<Backend>> OpenBackendOrBeside(const Config& config, const std::string& words,
                                                     StoreUse use);

}  // namespace hg::tsd
