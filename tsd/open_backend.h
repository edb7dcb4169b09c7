#pragma once
// Opens the store with the engine that the settings select.

#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener that opens the engine with the name in tsd.storage.backend. InvalidArgument: the
/// value of this setting is not the name of an engine.
Result<std::unique_ptr<Backend>> OpenBackend(const Config& config, const std::string& words,
                                             StoreUse use);

/// Opens the store for tools. If a daemon uses the data directory, the function opens the store
/// through this daemon (local_backend.h). Otherwise it opens the store as OpenBackend does. A
/// command that needs exclusive access must check Backend::beside_daemon.
Result<std::unique_ptr<Backend>> OpenBackendOrBeside(const Config& config, const std::string& words,
                                                     StoreUse use);

}  // namespace hg::tsd
