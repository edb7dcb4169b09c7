#pragma once
// Opens the store of the engine that the settings select.

#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener that opens the engine named by tsd.storage.backend. InvalidArgument: the value
/// of the setting is not the name of an engine.
Result<std::unique_ptr<Backend>> OpenBackend(const Config& config, const std::string& words,
                                             StoreUse use);

/// Like OpenBackend, for tools. If a daemon uses the data directory, opens the store through the
/// daemon (local_backend.h). A command that needs exclusive access checks Backend::beside_daemon.
Result<std::unique_ptr<Backend>> OpenBackendOrBeside(const Config& config, const std::string& words,
                                                     StoreUse use);

}  // namespace hg::tsd
